import { openAt } from "../base/http/front/address.ts";
import type { Ground } from "./ground.ts";
import { listenForIdentity, openIdentity } from "./identity.ts";
import { listenForPlane, type ServedPlane } from "./plane-listener.ts";

/**
 * The identity service and the listeners of both planes for people, who are signed out or see an error where these
 * refuse connections: they open first and close last.
 */
export async function openFirstListeners(ground: Ground, stopGraceMs: number) {
  const { options, layout, key, word, store, log, opened } = ground;
  const identity = await openIdentity(ground);
  const identityListener = await opened.step(
    "listen for the identity service",
    () => openAt(options.identityAddr, () => listenForIdentity(identity, options, { ingress: word, log })),
    (it) => it?.stop(stopGraceMs),
  );
  // Requests of the plane wait until it is made.
  const made = Promise.withResolvers<ServedPlane>();
  const { installationId } = store;
  const planeListener = await opened.step(
    "listen for the observability plane",
    () =>
      listenForPlane(
        { layout, key, log, ingress: word, installationId, prefix: options.prefix, made: made.promise },
        options,
      ),
    (it) => it?.stop(0),
  );
  return { identity, identityListener, planeListener, servePlane: made.resolve };
}
