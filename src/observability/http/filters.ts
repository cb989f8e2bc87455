import { Failure } from "../../base/wire/failure.ts";

/** `SCOPE` or `SCOPE/NAME` of a query; everything without it. Fails `invalid` for anything else. */
export function appFilter(text: string | undefined): (app: { scope?: string; name?: string }) => boolean {
  if (text === undefined) return () => true;
  const [scope = "", name, ...more] = text.split("/");
  if (scope === "" || name === "" || more.length > 0) {
    throw new Failure("invalid", `query app: "${text}" is not SCOPE or SCOPE/NAME, such as shop/web`);
  }
  return (app) => app.scope === scope && (name === undefined || app.name === name);
}
