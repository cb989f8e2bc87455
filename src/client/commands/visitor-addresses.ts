import { ApiError } from "../../base/wire/client.ts";
import { getIngress } from "../../ingress/api/ingress.ts";
import { addressesOf, type Listen } from "../text/addresses.ts";
import type { Context } from "../shell/command.ts";

/** Where the visitors of these ingresses go; the server is asked for its ports where there is an address. */
export async function visitorAddresses(
  context: Context,
  ingresses: readonly { spec: Record<string, unknown> }[],
): Promise<string[]> {
  const all = (listen: Listen | undefined) => ingresses.flatMap(({ spec }) => addressesOf(spec, listen));
  if (all(undefined).length === 0) return [];
  return all(await listenOf(context));
}

/** Undefined where the server refuses to say it: an address is then shown without a port. */
async function listenOf({ api }: Context): Promise<Listen | undefined> {
  try {
    return (await api.call(getIngress)).proxy.listen;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
