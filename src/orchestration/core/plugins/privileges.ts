import type { CoreKind, Spec } from "../../api/manifest.ts";
import { assetFiles, assetRefs } from "../assets.ts";
import { parseDockerOptions } from "../docker-options.ts";
import { envFromTarget } from "../env-from.ts";
import { webhookLists, webhookTemplates } from "../webhooks.ts";
import { namedVolume } from "../named-volumes.ts";
import type { DecodedContainer, DecodedInit } from "../spec/container.ts";
import { containerOf, decodeSpec } from "../spec/decode.ts";

/** Something of a manifest that reaches the machine itself, or another scope. */
interface Privilege {
  path: string;
  /** The name of the field that holds it. */
  field: string;
  value: string;
  /** Who was granted this scope may have it; undefined: no plugin without root. */
  scope: string | undefined;
  what: string;
}

interface Owner {
  kind: CoreKind;
  scope: string;
  spec: Spec;
}

/** Flags that change nothing outside of the container. */
const harmlessOptions = ["entrypoint", "shmSizeBytes"];

export function privileges(owner: Owner): Privilege[] {
  if (owner.kind === "asset") return fetchedFiles(owner.spec);
  if (owner.kind === "registry") return helpers(owner.spec);
  const found = containerOf(owner.kind, owner.spec);
  if (found === undefined) return [];
  const { container, path } = found;
  return [
    ...volumes(owner, container, path),
    ...sources(owner, container, path),
    ...foreignAssets(owner),
    ...webhookFiles(owner),
    ...(container.networkMode === "host"
      ? [machine(`${path}.network_mode`, "network_mode", "host", "is the network of the machine")]
      : []),
    ...container.capAdd.map((value, index) =>
      machine(`${path}.cap_add[${index}]`, "cap_add", value, "is a capability beyond those of every container"),
    ),
    ...options(container, path),
    ...container.inits.flatMap((init, index) => options(init, `${path}.inits[${index}]`)),
    ...container.postDeploy.map((value, index) =>
      machine(`${path}.post_deploy[${index}]`, "post_deploy", value, "is a line for the shell of the machine"),
    ),
  ];
}

function machine(path: string, field: string, value: string, what: string): Privilege {
  return { path, field, value, scope: undefined, what };
}

function ofScope(path: string, field: string, value: string, scope: string): Privilege {
  return { path, field, value, scope, what: `is of the scope "${scope}", which the plugin was not granted` };
}

function volumes({ scope: own }: Owner, container: DecodedContainer, path: string): Privilege[] {
  return container.volumes.flatMap(({ text: value, read: mount }, index): Privilege[] => {
    const at = `${path}.volumes[${index}]`;
    // An asset reference: those are looked at as such.
    if (!mount.ok || mount.value.source.includes("${")) return [];
    if (mount.value.type === "bind") return [machine(at, "volumes", value, "mounts a path of the machine")];
    const volume = namedVolume(own, mount.value);
    if (volume === undefined) return [];
    if (volume.external) return [machine(at, "volumes", value, "mounts a volume of the engine, which is of no scope")];
    return volume.owner === own ? [] : [ofScope(at, "volumes", value, volume.owner)];
  });
}

function sources({ scope: own }: Owner, { envFrom }: DecodedContainer, path: string): Privilege[] {
  return envFrom.flatMap((value, index) => {
    const scope = envFromTarget(value, own)?.scope ?? own;
    return scope === own ? [] : [ofScope(`${path}.env_from[${index}]`, "env_from", value, scope)];
  });
}

/** Without a scope a reference means the own one, or an asset that is there for all scopes. */
function foreignAssets(owner: Owner): Privilege[] {
  return assetRefs(owner).flatMap(({ ref, path, candidates }) => {
    const [first] = candidates;
    return first === undefined || first.scope === owner.scope ? [] : [ofScope(path, "assets", ref, first.scope)];
  });
}

/** Files whose content webhooks send away. */
function webhookFiles({ kind, scope: own, spec }: Owner): Privilege[] {
  return webhookLists(kind, spec).flatMap(({ path, hooks }) =>
    [...webhookTemplates(hooks, own)].flatMap(([file, [first]]) =>
      first === undefined || first.scope === own ? [] : [ofScope(`spec.${path}`, "file", file, first.scope)],
    ),
  );
}

function options({ dockerOptions = [] }: DecodedContainer | DecodedInit, path: string): Privilege[] {
  return dockerOptions.flatMap((value, index): Privilege[] => {
    const at = `${path}.docker_options[${index}]`;
    const read = parseDockerOptions([value], at);
    const isHarmless = Object.keys(read.options).every((option) => harmlessOptions.includes(option));
    if (isHarmless && read.problems.length === 0) return [];
    return [machine(at, "docker_options", value, "is an option of the engine")];
  });
}

/** The server fetches them, and reaches more than the plugin does. */
function fetchedFiles(spec: Spec): Privilege[] {
  return assetFiles(spec).flatMap(({ key, source }) =>
    source.type === "url"
      ? [machine(`spec.files.${key}`, "url", source.url, "is an address that the server itself would fetch")]
      : [],
  );
}

/** The server runs it. */
function helpers(spec: Spec): Privilege[] {
  const { helper } = decodeSpec("registry", spec);
  return helper === undefined
    ? []
    : [machine("spec.helper", "helper", helper, "is a program that the server itself would run")];
}
