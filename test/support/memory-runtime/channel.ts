/** Items from one side to the other, of which only a few are on their way at a time. */
export interface Channel<T> {
  /** Resolves when there is room for more, or with false when the channel has ended: the item is lost. */
  push(item: T): Promise<boolean>;
  /** What was pushed before is still read. */
  end(): void;
  readonly items: AsyncIterable<T>;
}

export function createChannel<T>(capacity: number): Channel<T> {
  const queue: T[] = [];
  let ended = false;
  let change = Promise.withResolvers<void>();

  const changed = () => {
    change.resolve();
    change = Promise.withResolvers();
  };

  async function* items(): AsyncGenerator<T> {
    for (;;) {
      const item = queue.shift();
      if (item !== undefined) {
        changed();
        yield item;
      } else if (ended) return;
      else await change.promise;
    }
  }

  return {
    push: async (item) => {
      if (ended) return false;
      queue.push(item);
      changed();
      while (queue.length >= capacity && !ended) await change.promise;
      return true;
    },
    end: () => {
      ended = true;
      changed();
    },
    items: items(),
  };
}
