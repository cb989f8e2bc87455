import { type Duplex, duplexHandlers } from "../../base/words/duplex.ts";
import { type Route, throughRoute } from "../basics/endpoint.ts";

/** Carries a connection of this machine to the socket of a route until both sides have finished. */
export async function relay(local: Duplex, route: Route, highBytes: number): Promise<void> {
  const { socket = "" } = route.address;
  try {
    const far = await throughRoute(route, () => dial(socket, highBytes), true);
    await Promise.all([pass(local, far), pass(far, local)]);
  } catch (error) {
    local.terminate();
    throw error;
  }
}

function dial(unix: string, highBytes: number): Promise<Duplex> {
  const opened = Promise.withResolvers<Duplex>();
  Bun.connect({ unix, allowHalfOpen: true, data: undefined, socket: duplexHandlers(highBytes, opened.resolve) }).catch(
    opened.reject,
  );
  return opened.promise;
}

async function pass(from: Duplex, to: Duplex): Promise<void> {
  for await (const bytes of from.incoming) {
    if (!(await to.write(bytes))) from.terminate();
  }
  if (from.broken) to.terminate();
  else to.finish();
}
