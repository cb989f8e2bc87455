import type { PodEndpoint } from "../../../orchestration/api/pod-endpoint.ts";

/** How the plane reaches containers of plugins. */
export interface RouteOutside {
  /** Undefined until the engine was asked for the first time. */
  endpoints(): readonly PodEndpoint[] | undefined;
  /** Follows no redirects and leaves bodies as they come. */
  fetch(url: string, init: ForwardInit): Promise<Response>;
}

interface ForwardInit {
  method: string;
  headers: Headers;
  body: ReadableStream<Uint8Array> | null;
  signal: AbortSignal;
}
