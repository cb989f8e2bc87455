import type { DataOf, Endpoint } from "./endpoint.ts";

/** An answer with a status of 400 or more; `message` is the envelope's `error`. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

export interface ClientInput {
  /** Values of `:name` parts of the path. */
  params?: Record<string, string>;
  query?: Record<string, string | undefined>;
  body?: unknown;
}

export interface Client {
  /** `data` of the envelope, or the whole body of a flat endpoint. Throws `ApiError`, and whatever `fetch` throws. */
  call<E extends Endpoint>(endpoint: E, input?: ClientInput): Promise<DataOf<E>>;
}

export interface ClientSetup {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  baseUrl: string;
  headers?: Record<string, string>;
}

export function createClient(setup: ClientSetup): Client {
  return {
    async call<E extends Endpoint>(endpoint: E, input: ClientInput = {}): Promise<DataOf<E>> {
      const headers: Record<string, string> = { ...setup.headers };
      if (input.body !== undefined) headers["content-type"] = "application/json";
      const response = await setup.fetch(setup.baseUrl + address(endpoint.path, input), {
        method: endpoint.method,
        headers,
        ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
      });
      const answer: { data?: unknown; error?: string } = JSON.parse(await response.text());
      if (!response.ok) throw new ApiError(response.status, answer.error ?? `HTTP ${response.status}`);
      return (endpoint.flat ? answer : answer.data) as DataOf<E>;
    },
  };
}

function address(path: string, { params = {}, query = {} }: ClientInput): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, value);
  return search.size === 0 ? filled : `${filled}?${search}`;
}
