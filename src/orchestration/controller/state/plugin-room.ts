import type { Principal } from "../../../access/principal.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { PluginPermissions } from "../../api/plugins/plugin-yml.ts";
import type { KeyText } from "../../api/manifest-key.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import type { Maker } from "../../core/plugins/maker.ts";
import type { BlockSchemas } from "../../plugins/block-schemas.ts";
import { type Confinement, unconfined } from "../../plugins/confinement.ts";
import type { Host } from "../../plugins/host.ts";
import type { Offers } from "../../plugins/offers.ts";
import type { Installer, Plugin, Registry } from "../../plugins/plugin.ts";

/** What the controller needs to run plugins. */
export interface PluginRoom {
  registry: Registry;
  installer: Installer;
  host: Host;
  schemas: BlockSchemas;
  offers: Offers;
  confinement: Confinement;
  /** The part of the server's own environment that every plugin gets; without where the engine is. */
  environment: Readonly<Record<string, string>>;
  /** Variables of the server's own environment, where they are set: for plugins that were granted them. */
  serverVariables: (names: readonly string[]) => Record<string, string>;
  /** Told to plugins that were granted the engine. */
  dockerHost: string;
  /** Where the run that has this token reaches the orchestration plane; undefined while nothing listens. */
  controllerUrl: (token: string) => string | undefined;
  callbacks: CallbackDoor;
  /** The last record of a run that is on its way into the store; those before it are there when it is. */
  lastRecord: Promise<void>;
  /** By the token of a run under way. */
  passes: Map<string, RunPass>;
  /** Ids of runs under way, each from before it is recorded. */
  underWay: Set<string>;
  /** Runs under way that keep stopped what they stopped. */
  holds: Set<PluginHold>;
  /** On their way in for applies, by source and version. */
  pendingInstalls: Map<string, PendingInstall>;
  /** `owner/repo` of the plugin of a block kind, as the operator set it. */
  defaultRepo: (kind: string) => string | undefined;
}

/** A resource without its kind; config buckets are named so. */
export interface Place {
  scope: string;
  name: string;
}

/** What a run under way may ask of the controller. */
export interface RunPass extends Maker {
  permissions: PluginPermissions;
  /** Nothing is kept from it. */
  isFull: boolean;
  /** Kinds of blocks that it makes. */
  kinds: readonly string[];
  /** For the event log. */
  actor: string;
  /** A pod asked for the run: of the plugin's blocks only these are its business. */
  only: readonly Place[] | undefined;
  /** Whose rights the run has, beside its own grant. */
  by: Principal;
  /** The block of the plugin that the words of the run name. */
  block: ManifestKey | undefined;
}

/** A plugin on its way in for one apply or several. */
export interface PendingInstall {
  plugin: Promise<Plugin>;
  /** How many wait for it. */
  applies: number;
  /** How many of them came to nothing. */
  refused: number;
  /** As it was before; undefined where there was none, or a bundled one. */
  before: Plugin | undefined;
}

/** A run under way of a plugin that can stop containers through the engine. */
export interface PluginHold extends Maker {
  /** Epoch ms. */
  since: number;
  /** Resources that the run itself wants up again: what had ended by then is not held. */
  letGoAt: Map<KeyText, number>;
}

/** Where containers of plugins' blocks reach the controller: a listener on the platform network alone. */
export interface CallbackDoor {
  /** Undefined while it does not listen. */
  url(): string | undefined;
  /** Makes the platform network where it is missing, and listens; does nothing where that cannot be. */
  open(): Promise<void>;
}

/** A server without plugins. */
export function noPlugins(): PluginRoom {
  const refuse = async () => {
    throw new Failure("unavailable", "this server runs without plugins");
  };
  return {
    registry: {
      refresh: async () => undefined,
      list: () => ({ plugins: [], errors: [] }),
      find: () => undefined,
      ofKind: () => undefined,
    },
    installer: {
      install: refuse,
      preview: refuse,
      remove: refuse,
      update: refuse,
      previewUpdate: refuse,
      rollback: refuse,
      withdraw: refuse,
      setEnabled: refuse,
      changes: refuse,
      accept: refuse,
      verify: refuse,
    },
    host: { run: refuse, running: () => 0, endLeftovers: async () => undefined, close: async () => undefined },
    schemas: { of: async () => undefined },
    offers: { put: () => undefined, open: refuse },
    confinement: unconfined,
    environment: {},
    serverVariables: () => ({}),
    dockerHost: "",
    controllerUrl: () => undefined,
    lastRecord: Promise.resolve(),
    passes: new Map(),
    underWay: new Set(),
    holds: new Set(),
    pendingInstalls: new Map(),
    callbacks: { url: () => undefined, open: async () => undefined },
    defaultRepo: () => undefined,
  };
}
