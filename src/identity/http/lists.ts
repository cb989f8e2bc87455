import { Failure } from "../../base/wire/failure.ts";
import { nextCursorHeader } from "../api/paging.ts";
import type { Listing } from "../service/listing.ts";
import type { Page } from "../service/sessions.ts";
import { textAnswer } from "./answers.ts";
import { pathOf } from "./request-log.ts";
import type { Query } from "./query.ts";

const limitMax = 10_000;

/** `limit` and `cursor` of a list. Fails `invalid`. */
export function readPage(query: Query): Page {
  const limit = query.get("limit") ?? undefined;
  const cursor = query.get("cursor") ?? undefined;
  if (limit === undefined) return { cursor };
  const count = /^\d{1,6}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > limitMax) throw new Failure("invalid", `limit is not a whole number from 1 to ${limitMax}`);
  return { limit: count, cursor };
}

/** The array, and in the head where it goes on. */
export function listAnswer(request: Request, { json, next }: Listing): Response {
  if (next === undefined) return textAnswer(200, json);
  const start = request.url.indexOf("?");
  const query = new URLSearchParams(start < 0 ? "" : request.url.slice(start + 1));
  query.set("cursor", next);
  return textAnswer(200, json, {
    [nextCursorHeader]: next,
    Link: `<${pathOf(request)}?${query}>; rel="next"`,
  });
}
