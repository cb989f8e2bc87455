/** Counts work under way, so that a test knows when there is nothing left to wait for. */
export interface Activity {
  /** The same object; calls of the named methods count until they have ended. */
  watch<T extends object>(target: T, methods: readonly (keyof T)[]): T;
  readonly underWay: number;
}

type AnyCall = (...args: unknown[]) => unknown;

export function createActivity(): Activity {
  let underWay = 0;
  const counted = (call: AnyCall, target: object): AnyCall =>
    async function countedCall(...args) {
      underWay += 1;
      try {
        return await call.apply(target, args);
      } finally {
        underWay -= 1;
      }
    };
  return {
    watch(target, methods) {
      const wrapped = new Map(methods.map((name) => [name, counted(target[name] as AnyCall, target)]));
      return new Proxy(target, {
        get: (object, name) => wrapped.get(name as keyof typeof object) ?? Reflect.get(object, name),
      });
    },
    get underWay() {
      return underWay;
    },
  };
}
