import type { Principal } from "../../access/principal.ts";
import { type Client, readAnswer, targetOf } from "../wire/client.ts";
import type { DataOf, Endpoint, ParamsOf, QueryOf } from "../wire/endpoint.ts";
import { Failure } from "../wire/failure.ts";
import type { Call, Plane, Served, ServedBy } from "./mount.ts";
import { readQuery } from "./request.ts";

/** What a caller gives beside the endpoint, whatever the endpoint. */
interface Given {
  params?: Readonly<Record<string, string>> | undefined;
  query?: object | undefined;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * A client that calls the handlers of a plane in this process. What it says is checked as if it came over HTTP, and what
 * a handler refuses fails with `ApiError`.
 */
export function createInsideClient(
  { mapError }: Pick<Plane, "mapError">,
  servedBy: ServedBy,
  who: { actor: string; by: Principal },
): Client {
  const served = <E extends Endpoint>(endpoint: E): Served<E> => {
    const found = servedBy(endpoint);
    if (found !== undefined) return found;
    throw new Failure("not_found", `${endpoint.method} ${endpoint.path} is not served by this server`);
  };
  const raw = async <E extends Endpoint>(endpoint: E, given: Given = {}): Promise<Response> => {
    try {
      return await served(endpoint).respond(callOf(endpoint, given, who));
    } catch (error) {
      return mapError(error);
    }
  };
  return {
    raw: (endpoint, ...[given]) => raw(endpoint, given),
    async call(endpoint, ...[given]) {
      let response: Response;
      try {
        const { answer } = served(endpoint);
        if (answer !== undefined) return (await answer(callOf(endpoint, given ?? {}, who))) as DataOf<typeof endpoint>;
        response = await raw(endpoint, given);
      } catch (error) {
        response = mapError(error);
      }
      return readAnswer(endpoint, response.status, await response.text());
    },
  };
}

function callOf<E extends Endpoint>(endpoint: E, given: Given, who: { actor: string; by: Principal }): Call<E> {
  const { params = {}, headers = {}, signal } = given;
  const url = `http://localhost${targetOf(endpoint.path, given as Parameters<typeof targetOf>[1])}`;
  const request = new Request(url, { method: endpoint.method, headers, ...(signal === undefined ? {} : { signal }) });
  // A handler may keep what it gets, and the caller may go on with what it gave.
  const body: unknown = given.body === undefined ? undefined : JSON.parse(JSON.stringify(given.body));
  return {
    ...who,
    ...{ request, body },
    params: params as ParamsOf<E, string | null>,
    query: readQuery({ url }, endpoint) as Partial<QueryOf<E>>,
    open: () => ({ signal: request.signal, close: () => undefined }),
    readBody: async () => body,
    keepOpen: () => undefined,
    get left() {
      return request.signal;
    },
  };
}
