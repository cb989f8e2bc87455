import { type Static, Type } from "@sinclair/typebox";
import { probeDefaults } from "./defaults.ts";
import { Count, Duration, MapOf, OneOf, Shape, Words } from "../../../base/wire/shape.ts";

const Port = Type.Integer({ minimum: 1, maximum: 65535, description: "container-side port" });

export const Probe = Shape({
  http_get: Type.Optional(
    Shape(
      {
        path: Type.String({ description: "starts with /" }),
        port: Port,
        scheme: Type.Optional(OneOf(["http", "https"], "protocol", probeDefaults.scheme)),
        http_headers: Type.Optional(MapOf(Type.String(), "request headers")),
      },
      "passes on status 200 to 399",
    ),
  ),
  tcp_socket: Type.Optional(Shape({ port: Port }, "passes when the port accepts a connection")),
  exec: Type.Optional(Shape({ command: Words("argument vector, run inside the container") }, "passes on exit code 0")),
  initial_delay: Type.Optional(Duration("pause before the first attempt", probeDefaults.initialDelay)),
  period: Type.Optional(Duration("pause between attempts", probeDefaults.period)),
  timeout: Type.Optional(Duration("limit of one attempt", probeDefaults.timeout)),
  failure_threshold: Type.Optional(
    Count("failures in a row that make it unhealthy", { minimum: 1, default: probeDefaults.failureThreshold }),
  ),
  success_threshold: Type.Optional(
    Count("successes in a row that make it healthy", { minimum: 1, default: probeDefaults.successThreshold }),
  ),
});
export type Probe = Static<typeof Probe>;

export const Probes = Shape(
  {
    startup: Type.Optional(Probe),
    liveness: Type.Optional(Probe),
    readiness: Type.Optional(Probe),
  },
  "health checks; each has exactly one of http_get, tcp_socket, exec",
);
export type Probes = Static<typeof Probes>;
