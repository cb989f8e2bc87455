import { isFromAfar } from "../../access/apps.ts";
import { type Call, mount, type Plane } from "../../base/http/mount.ts";
import { readParam } from "../../base/http/request.ts";
import type { Endpoint } from "../../base/wire/endpoint.ts";
import { readFlag } from "../../base/wire/query.ts";
import { createPat, getPat, listPats, revokePat, rotatePat } from "../api/tokens.ts";
import type { ManagedTokens } from "../service/tokens/tokens.ts";

export function mountPats(plane: Plane, tokens: ManagedTokens): void {
  const status = () => 201;
  // The answer holds the token: it must stay in no cache on the way.
  const headers = () => ({ "Cache-Control": "no-store" });
  mount(plane, createPat, { answer: ({ body, actor }) => tokens.create(body, { actor }), status, headers });
  mount(plane, listPats, ({ query: { all } }) => tokens.list({ all: readFlag(all, false) }));
  mount(plane, getPat, ({ params }) => tokens.get(readParam(params, "id")));
  mount(plane, rotatePat, {
    answer: ({ params, body, actor }) => tokens.rotate(readParam(params, "id"), body, { actor }),
    status,
    headers,
  });
  mount(plane, revokePat, (call) => tokens.revoke(readParam(call.params, "id"), noted(call)));
}

/** Who is put on record with the change; the plane of tokens has a record of each request already. */
export function noted({ by, actor }: Pick<Call<Endpoint>, "by" | "actor">): { actor: string } | undefined {
  return isFromAfar(by) ? undefined : { actor };
}
