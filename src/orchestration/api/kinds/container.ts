import { type Static, type TObject, Type } from "@sinclair/typebox";
import { containerDefaults } from "./defaults.ts";
import { Build } from "./build.ts";
import { Resources } from "./resources.ts";
import { Count, Duration, MapOf, OneOf, Shape, Words } from "../../../base/wire/shape.ts";

const Logs = Shape(
  {
    max_size: Type.Optional(
      Type.String({
        default: containerDefaults.logSize,
        description: "size of one log file: a number with k, m or g, at most 100g",
      }),
    ),
    max_files: Type.Optional(
      Count("log files kept", { minimum: 1, maximum: 100, default: containerDefaults.logFiles }),
    ),
  },
  "log rotation of the container",
);

/** Fields of every kind that makes containers. */
export const containerFields = {
  image: Type.Optional(Type.String({ description: "image reference; default <scope>-<name>:latest, built here" })),
  build: Type.Optional(Build),
  build_args: Type.Optional(MapOf(Type.String(), "older flat form of build.args")),
  pull: Type.Optional(OneOf(["missing", "always"], "when the image is pulled", containerDefaults.pull)),
  entrypoint: Type.Optional(
    Words("program and its first arguments, in place of the image's entrypoint; the image's command is then not used"),
  ),
  command: Type.Optional(
    Words("what follows the entrypoint: its arguments, or the program where there is none; default: the image's own"),
  ),
  env: Type.Optional(MapOf(Type.String(), "environment; wins over config")),
  env_file: Type.Optional(Words("files read by the client and merged into env; the server never reads them")),
  env_from: Type.Optional(Words("apps whose config is read first: scope/name, or name in the own scope")),
  volumes: Type.Optional(
    Words(
      "src:dst[:ro|rw][,external], src being an absolute host path, an asset reference or a volume: name of the own scope, scope/name of another; external: the engine's volume of that name",
    ),
  ),
  volume_owner: Type.Optional(
    Type.String({
      description:
        "uid or uid:gid, in numbers: the owner of the root folder of each volume of the own scope and each volume claim, set while the volume is empty; for programs that do not run as root",
    }),
  ),
  network: Type.Optional(Type.String({ description: "one extra network; older form of networks" })),
  networks: Type.Optional(Words("extra bridge networks beside the platform's own")),
  network_mode: Type.Optional(
    OneOf(["", "bridge", "host", "none"], "excludes networks unless bridge", containerDefaults.networkMode),
  ),
  extra_hosts: Type.Optional(Words("name:ip lines for /etc/hosts")),
  cap_add: Type.Optional(Words("Linux capabilities to add")),
  ulimits: Type.Optional(MapOf(Type.String(), "soft[:hard] per limit; what is left out is the engine's default")),
  init: Type.Optional(
    Type.Boolean({
      description:
        "a small init is process 1: it passes signals on and collects ended processes; default: with exec probes, unless the image starts an init of its own",
    }),
  ),
  docker_options: Type.Optional(Words("further docker run flags, from an allow-list")),
  telemetry: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "the server takes OpenTelemetry metrics, traces and logs, and OTEL_EXPORTER_OTLP_ENDPOINT says where",
    }),
  ),
  resources: Type.Optional(Resources),
  logs: Type.Optional(Logs),
  stop_grace: Type.Optional(Duration("between the stop signal and the kill", containerDefaults.stopGrace)),
  stop_signal: Type.Optional(Type.String({ description: "signal name or number; default: the image's own" })),
  depends_on: Type.Optional(
    Shape(
      { assets: Type.Optional(Words("[scope.]name.key of assets whose change replaces the containers")) },
      "inputs that are not referenced elsewhere; no start order",
    ),
  ),
  _asset_digests: Type.Optional(MapOf(Type.String(), "written by the server: sha256 per asset reference")),
};

export type ContainerFields = Static<TObject<typeof containerFields>>;

/**
 * What each field reaches. `app`: what runs inside of the app, so that a token which is limited to apps may change it.
 * `container`: nothing outside of the container. `machine`: the value decides (`judges` in `access/reach.ts`).
 */
export const containerReach: Readonly<Record<keyof typeof containerFields, "app" | "container" | "machine">> = {
  image: "app",
  build: "app",
  build_args: "container",
  pull: "app",
  entrypoint: "app",
  command: "app",
  env: "app",
  env_file: "container",
  env_from: "container",
  volumes: "machine",
  volume_owner: "container",
  network: "machine",
  networks: "machine",
  network_mode: "machine",
  extra_hosts: "container",
  cap_add: "machine",
  ulimits: "container",
  init: "container",
  docker_options: "machine",
  telemetry: "app",
  resources: "app",
  logs: "app",
  stop_grace: "app",
  stop_signal: "app",
  depends_on: "container",
  _asset_digests: "container",
};

/** The fields that reach at most so far. */
export function fieldsWithin(...reaches: readonly ("app" | "container")[]): string[] {
  return Object.entries(containerReach).flatMap(([field, reach]) =>
    reaches.some((one) => one === reach) ? [field] : [],
  );
}
