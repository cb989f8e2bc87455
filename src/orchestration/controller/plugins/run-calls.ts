import { appLimitOf, reachesAll } from "../../../access/apps.ts";
import { mayChange, type Principal, unnamed } from "../../../access/principal.ts";
import { Failure, problemsFailure } from "../../../base/wire/failure.ts";
import { expandApp } from "../../core/expand.ts";
import { parseKind } from "../../core/kind.ts";
import { isOwn as isOwnPlugin, type Maker, makerOf } from "../../core/plugins/maker.ts";
import { runsAsRoot } from "../../core/plugins/conflicts.ts";
import { expansionProblems } from "../../core/plugins/permissions.ts";
import { decodeManifests } from "../../core/validate.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { type CallNeed, type CallPlace, callNeed, reaches } from "../../core/plugins/run-access.ts";
import type { ActionType } from "../../api/plugins/action.ts";
import type { Context } from "../state/context.ts";
import { isOfPlugin, ownBlockSpec, ownerOfPod, placeText, requireOnly } from "./own-places.ts";
import type { RunPass } from "../state/plugin-room.ts";
import { requireChangeReached } from "./reach.ts";

/** A call that a run of a plugin makes by the URL that it was given. */
interface RunCall {
  token: string;
  method: string;
  /** Path and query, without what belongs to the run. */
  target: string;
}

/** Knows what runs of plugins may ask of the orchestration API. */
export interface RunCalls {
  /** Fails `forbidden` for a run that is over, and for what the plugin was not granted. */
  admit(call: RunCall): Admission;
  /** Like `admit`, for a body, where `admit` said that it is to be asked. */
  admitManifests(token: string, body: unknown): void;
  /** Whose rights the calls of a run have. */
  principalOf(token: string): Principal;
}

interface Admission {
  pass: RunPass;
  /** Whether the body has to be looked at as well. */
  asksForBody: boolean;
}

export function createRunCalls(context: Context): RunCalls {
  const passOf = (token: string) => {
    const pass = context.plugins.passes.get(token);
    if (pass !== undefined) return pass;
    throw new Failure("forbidden", "this address belongs to a run of a plugin that is over, or was never given out");
  };
  return {
    admit({ token, method, target }) {
      const pass = passOf(token);
      const need = callNeed(method, target);
      const isLimited = appLimitOf(pass.by).apps.length > 0 || !mayChange(pass.by);
      const isFree = pass.isFull && pass.only === undefined;
      if (isFree && !isLimited) return { pass, asksForBody: false };
      const call = `${method} ${target.split("?")[0]}`;
      if (!isFree) requireNeed(context, pass, { need, call });
      if (isLimited) requireStarter(context, pass, { need, call, target });
      return { pass, asksForBody: need.type === "manifests" };
    },
    admitManifests(token, body) {
      const pass = passOf(token);
      for (const manifest of Array.isArray(body) ? body : [body]) {
        requireManifest(context, pass, manifest);
        requireManifestReached(context, pass, manifest);
      }
      requireUnprivileged(context, pass, body);
    },
    principalOf: (token) => context.plugins.passes.get(token)?.by ?? unnamed,
  };
}

function requireNeed(context: Context, pass: RunPass, { need, call }: { need: CallNeed; call: string }): void {
  switch (need.type) {
    case "nothing":
      return;
    case "scope":
      return void requirePlace(context, pass, need.place);
    case "config": {
      const place = requirePlace(context, pass, need.place);
      if (isOwn(context, pass, place) || has(pass, "config_set") || has(pass, "config_unset")) return;
      throw refused(pass, `the config of ${placeText(place)}, which is of no block of its own, without "config_set"`);
    }
    case "action":
      requirePlace(context, pass, need.place);
      if (has(pass, need.action)) return;
      throw refused(pass, `"${need.action}", so ${call} is not for it`);
    case "own": {
      for (const asked of [need.place, ...(need.and === undefined ? [] : [need.and])]) {
        const place = requirePlace(context, pass, asked);
        if (isOwn(context, pass, place) || (need.or !== undefined && has(pass, need.or))) continue;
        throw refused(pass, `${call} of ${placeText(place)}, which is of no block of its own`);
      }
      return;
    }
    case "manifests":
      if (!has(pass, "apply_manifest")) throw refused(pass, '"apply_manifest"');
      if (need.prunes && !has(pass, "delete_manifest"))
        throw refused(pass, '"delete_manifest", so prune is not for it');
      return;
    case "command": {
      const found = context.plugins.registry.find(need.plugin);
      if (found !== undefined && isOwnPlugin(pass, makerOf(found))) return;
      throw refused(pass, "commands of other plugins");
    }
    case "everything":
      if (pass.isFull) return;
      throw refused(pass, `${call}: it is for plugins that were granted everything`);
  }
}

/** What the one who started the run may not change, the run may not change by a call either. */
function requireStarter(
  context: Context,
  pass: RunPass,
  { need, call, target }: { need: CallNeed; call: string; target: string },
): void {
  const isRead = /^(?:GET|HEAD) /.test(call);
  // Commands answer for their own actions, and manifests of a body are looked at one by one.
  if (isRead || need.type === "nothing" || need.type === "command") return;
  if (need.type === "everything" || (need.type === "manifests" && need.prunes)) {
    if (reachesAll(appLimitOf(pass.by)) && mayChange(pass.by)) return;
    throw new Failure("forbidden", `${call} reaches beyond the apps or scopes of the token that started this run`);
  }
  if (need.type === "manifests") return;
  if (need.type === "own" && need.and !== undefined)
    requireStarter(context, pass, { need: { type: "own", place: need.and }, call, target });
  const { scope = "", name = "" } = whole(context, pass, need.place) ?? need.place;
  const query = new URLSearchParams(target.split("?")[1]);
  const isDelete = need.type === "action" && need.action === "delete_manifest" && !query.has("ordinal");
  const word = query.get("kind")?.trim() || "*";
  const kind = isDelete ? { kind: parseKind(word) ?? word } : {};
  const isLook = call.endsWith("/exec");
  requireChangeReached(pass, { asked: { ...kind, scope, name }, what: call, isLook }, context.store);
}

function requireManifestReached(context: Context, pass: RunPass, manifest: unknown): void {
  if (!isFields(manifest)) return;
  const { kind, scope, name, spec } = manifest;
  const word = typeof kind === "string" ? kind : "";
  const asked = {
    kind: parseKind(word) ?? word,
    scope: typeof scope === "string" ? scope : "",
    name: typeof name === "string" ? name : "",
    ...(isFields(spec) ? { spec } : {}),
  };
  requireChangeReached(pass, { asked, what: "POST /apply" }, context.store);
}

function requireManifest(context: Context, pass: RunPass, manifest: unknown): void {
  if (!isFields(manifest)) return;
  const { kind, scope, name } = manifest;
  const word = typeof kind === "string" ? kind : "";
  if (parseKind(word) === undefined && !pass.isFull && !pass.kinds.includes(word))
    throw refused(pass, `blocks such as "${word}", only core kinds and its own`);
  requirePlace(context, pass, {
    ...(typeof scope === "string" ? { scope } : { scope: "" }),
    ...(typeof name === "string" ? { name } : {}),
  });
}

/** A body that cannot be read is refused here: nothing may get past that was not looked at. */
function requireUnprivileged(context: Context, pass: RunPass, body: unknown): void {
  const { permissions } = pass;
  if (runsAsRoot(permissions)) return;
  // What its own blocks become is checked when they are expanded.
  const isBlock = (one: unknown) => isFields(one) && pass.kinds.includes(String(one.kind));
  if (isBlock(body)) return;
  const rest = Array.isArray(body) ? body.filter((one) => !isBlock(one)) : body;
  const { manifests, problems } = decodeManifests(rest, { limits: context.limits });
  if (problems.length > 0) throw problemsFailure(problems);
  const specOf = ownBlockSpec(context, pass);
  const beyond = manifests.flatMap(expandApp).flatMap((draft) => {
    return expansionProblems([draft], permissions, specOf(draft));
  });
  if (beyond.length === 0) return;
  const lines = beyond.map(({ path, message }) => `${path}: ${message}`);
  throw new Failure("forbidden", lines.slice(0, context.limits.problemsShownMax).join("\n"));
}

/** The place with what the pod or the run of a job in it stands for. */
function requirePlace(context: Context, pass: RunPass, asked: CallPlace): CallPlace {
  const place = whole(context, pass, asked);
  if (place === undefined) {
    if (pass.isFull) return asked;
    throw refused(pass, `"${asked.pod ?? asked.run ?? ""}", which is not a pod or a run of this installation`);
  }
  if (!pass.isFull && !reaches(pass.permissions, place)) {
    const what = place.scope === undefined ? "all scopes; say one that it was granted" : `the scope "${place.scope}"`;
    throw refused(pass, what);
  }
  if (pass.only !== undefined) requireOnly(context, { plugin: pass, only: pass.only }, place);
  return place;
}

function whole(context: Context, plugin: Maker, { pod, run, ...place }: CallPlace): CallPlace | undefined {
  if (pod !== undefined) return ownerOfPod(context, plugin, pod);
  if (run !== undefined) return context.store.runs.get(run);
  return place;
}

function isOwn(context: Context, pass: RunPass, { scope, name }: CallPlace): boolean {
  return scope !== undefined && name !== undefined && isOfPlugin(context, pass, { scope, name });
}

function has({ permissions, isFull }: RunPass, action: ActionType): boolean {
  return isFull || permissions.actions.includes(action);
}

function refused({ plugin }: RunPass, what: string): Failure {
  return new Failure("forbidden", `the plugin "${plugin}" was not granted ${what}`);
}
