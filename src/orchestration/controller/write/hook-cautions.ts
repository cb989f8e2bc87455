import type { Spec } from "../../api/manifest.ts";
import { type HookBlock, hookList } from "../../core/hooks.ts";
import { textOf } from "../../core/lenient.ts";
import { isClosedHost } from "../../../base/deliver/address-guard.ts";

const lists: readonly [HookBlock, string][] = [
  ["on_deploy", "success"],
  ["on_deploy", "failure"],
  ["on_probe", "failure"],
  ["on_probe", "recovery"],
];

/** Webhooks that will be refused, as far as their URL alone tells: names are resolved only when one is sent. */
export function closedHookCautions(spec: Spec): string[] {
  return lists.flatMap(([block, list]) =>
    hookList(spec, block, list).flatMap((hook) => {
      const host = hostOf(textOf(hook.url) ?? "");
      if (!isClosedHost(host)) return [];
      return [`${block}.${list}: "${host}" is not a public address, so nothing is sent; see berth serve --help`];
    }),
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
}
