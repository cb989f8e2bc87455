import { Type } from "@sinclair/typebox";
import { Count, Duration, ListOf, MapOf, OneOf, Shape, Words } from "../../../base/wire/shape.ts";
import { routingDefaults } from "./routing-defaults.ts";

/** Answers that the ingress makes itself, and that may have a custom page. */
export const errorPageStatuses = [403, 404, 413, 429, 502, 503, 504] as const;
export type ErrorPageStatus = (typeof errorPageStatuses)[number];

const Sticky = Shape(
  { cookie: Type.String({ description: "name of the cookie that the ingress sets" }) },
  "binds a client to a replica as long as the replica serves",
);

/** A hundred years. */
const hstsSecondsMax = 3_153_600_000;

const Hsts = Shape(
  {
    max_age: Type.Optional(
      Count("seconds; 0 takes it back", {
        minimum: 0,
        maximum: hstsSecondsMax,
        default: routingDefaults.hstsSeconds,
      }),
    ),
    include_subdomains: Type.Optional(Type.Boolean({ default: false, description: "for all subdomains too" })),
    preload: Type.Optional(Type.Boolean({ default: false, description: "consent to the preload lists of browsers" })),
  },
  "Strict-Transport-Security: browsers come back over https only; needs tls",
);

const HostRedirect = Shape({
  from: Type.String({ description: "host name whose requests are redirected, path and query kept" }),
  to: Type.Optional(Type.String({ description: "host name; default: the first host of the ingress" })),
  status: Type.Optional(Type.Integer({ default: routingDefaults.redirectStatus, description: "301, 302, 307 or 308" })),
});

const headerChanges = (description: string) =>
  Shape(
    {
      set: Type.Optional(MapOf(Type.String(), "headers to set, in place of those of the same name")),
      remove: Type.Optional(Words("names of headers to remove")),
    },
    description,
  );

const Headers = Shape(
  {
    request: Type.Optional(headerChanges("headers of requests, before they are passed to a replica")),
    response: Type.Optional(headerChanges("headers of responses, before they are passed to the client")),
  },
  "changes to HTTP headers; values that look like credentials by the header's name are kept secret",
);

const RateLimit = Shape(
  {
    requests: Type.Integer({ minimum: 1, description: "requests of one client address; more are answered with 429" }),
    per: Type.Optional(Duration("period that they are counted over", routingDefaults.ratePer)),
  },
  "limits the requests of each client address",
);

const RequestLimits = Shape(
  {
    body: Type.Optional(
      Type.String({
        description: 'largest request body, such as "10Mi"; larger ones are answered with 413; default: no limit',
      }),
    ),
    head: Type.Optional(
      Type.String({
        default: routingDefaults.head,
        description:
          "largest request head (request line and headers), up to 128Ki; a larger one is answered with 400, that of a response with 502; the largest value of all ingresses applies to each",
      }),
    ),
    timeout: Type.Optional(
      Duration("how long a replica may take to begin its response, and to go on with it", routingDefaults.timeout),
    ),
    client_timeout: Type.Optional(
      Duration(
        "how long a client may pause in the middle of a download or an upload; the largest value of all ingresses applies to each",
        routingDefaults.clientTimeout,
      ),
    ),
    tunnel: Type.Optional(
      Duration("silence after which a WebSocket or a TCP connection is closed", routingDefaults.tunnel),
    ),
    connections: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "requests to one replica at the same time; more wait in a queue; default: no limit",
      }),
    ),
  },
  "limits of requests and connections",
);

const Hold = Shape(
  {
    for: Type.Optional(Duration("longest wait; 0: requests are not held", routingDefaults.holdFor)),
    requests: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: routingDefaults.holdRequests,
        description: "requests that wait at the same time; more are answered with 503",
      }),
    ),
  },
  "requests wait while no replica is ready, for example during a restart",
);

/** Fields of an ingress on what happens to HTTP requests. None of them applies to a TCP ingress. */
export const httpRoutingFields = {
  protocol: Type.Optional(
    OneOf(
      ["http", "h2c", "https"],
      "what the replicas speak: HTTP/1.1, HTTP/2 without TLS (gRPC), or TLS, whose certificate is not checked",
      routingDefaults.protocol,
    ),
  ),
  sticky: Type.Optional(Sticky),
  https_redirect: Type.Optional(
    Type.Boolean({ description: "redirect plain HTTP requests to https; default: true with tls" }),
  ),
  hsts: Type.Optional(Hsts),
  redirects: Type.Optional(
    ListOf(HostRedirect, "hosts that only redirect to another one, such as www to the bare domain"),
  ),
  headers: Type.Optional(Headers),
  compress: Type.Optional(
    Type.Boolean({ default: false, description: "compress responses that a replica sends uncompressed" }),
  ),
  basic_auth: Type.Optional(
    MapOf(
      Type.String(),
      "user names and their passwords, or hashes of them as openssl passwd -6 prints; kept secret; requests of others are answered with 401",
    ),
  ),
  rate_limit: Type.Optional(RateLimit),
  maintenance: Type.Optional(
    Type.Boolean({ default: false, description: "answer every request with 503 and the maintenance page" }),
  ),
  hold: Type.Optional(Hold),
  access_log: Type.Optional(
    OneOf(["off", "sampled", "all"], "which requests are written to the access log", routingDefaults.accessLog),
  ),
  error_pages: Type.Optional(
    MapOf(
      Type.String(),
      "HTML by status (403, 404, 413, 429, 502, 503 or 504), in place of the page that the ingress shows with it",
    ),
  ),
};

/** Fields of an ingress on its connections, whether HTTP or not. */
export const connectionFields = {
  proxy_protocol: Type.Optional(
    Type.Boolean({
      default: false,
      description: "begin connections to replicas with a PROXY protocol header, version 2",
    }),
  ),
  allow: Type.Optional(Words("networks such as 10.0.0.0/8; when not empty, only their clients are served")),
  deny: Type.Optional(Words("networks whose clients are refused, also where allow has them")),
  limits: Type.Optional(RequestLimits),
};
