import { join } from "node:path";
import { widened } from "../core/plugins/conflicts.ts";
import type { PluginYml } from "../api/plugins/plugin-yml.ts";
import { acceptedNotes } from "./accept.ts";
import { check, lackText, requirePrograms, requireWanted, sourceOf, versionOf, type Wish } from "./checks.ts";
import { hasHook } from "./hooks.ts";
import { linkDigest, linkTarget } from "./link.ts";
import { packageDigest } from "./lock.ts";
import { askedBy, grantedBy, type InstallOptions, type Plugin, type Preview } from "./plugin.ts";
import { fetchPackage, putInPlace, versionText, withStaging } from "./stage.ts";
import type { Work } from "./work.ts";

/** What a preview warns of: berth has no key of the plugin's author to check with. */
const unsigned =
  "the release is not signed: its checksums come from the same place, and prove nothing about who made it; compare the sha256 with one from elsewhere";

/**
 * What an install would do: everything up to its hook, in a place that is gone afterwards. Fails as the install does;
 * what a package wants beyond its grant is listed in `more` instead.
 */
export async function preview(work: Work, wish: Wish, how: InstallOptions): Promise<Preview> {
  requireWanted(how.signal);
  if (wish.link === true) return previewLink(work, wish);
  const source = sourceOf(wish.source);
  const version = versionOf(wish.version);
  const { granted: _, ...asked } = wish;
  return withStaging(work.folders, async (staging) => {
    const fetched = await fetchPackage(work, staging, { source, version, signal: how.signal, onLine: how.progress });
    const folder = join(staging, "copy");
    const yml = await putInPlace(fetched, folder, work.limits);
    await check(work, { wish: asked, version, yml, tag: fetched.tag });
    const hooks = hasHook(folder, "install") ? ["install"] : [];
    // A hook may still bring them.
    if (hooks.length === 0) await requirePrograms(folder, yml.name);
    return {
      ...grantOf(work, wish, yml),
      yml,
      source: wish.source,
      requested: version ?? "",
      version: versionText(fetched),
      ...(fetched.commit === "" ? {} : { commit: fetched.commit }),
      digest: await packageDigest(folder, yml.name, work.limits),
      hooks,
      warnings: [
        ...fetched.warnings,
        ...acceptedNotes(presentOf(work, yml.name)),
        ...(source.type === "release" ? [unsigned] : []),
        ...work.lacks.map(lackText),
      ],
    };
  });
}

async function previewLink(work: Work, wish: Wish): Promise<Preview> {
  const { folder, yml } = await linkTarget(work, wish);
  return {
    ...grantOf(work, wish, yml),
    yml,
    source: wish.source,
    requested: "",
    version: yml.version,
    digest: linkDigest(folder, yml),
    hooks: [],
    warnings: ["a linked folder is used as it is at each moment: its files are not locked"],
  };
}

function grantOf(work: Work, { granted, link }: Wish, yml: PluginYml): Pick<Preview, "grant" | "more" | "replaces"> {
  // A linked folder is somebody else's, whom the plugin's own user could not read: it is run as it always was.
  const grant = link === true ? askedBy(yml) : grantedBy(yml);
  const replaces = presentOf(work, yml.name);
  const before = granted ?? replaces?.permissions;
  return {
    grant,
    ...(before === undefined ? {} : { more: widened(before, grant) }),
    ...(replaces === undefined ? {} : { replaces }),
  };
}

function presentOf({ registry }: Work, name: string): Plugin | undefined {
  const found = registry.find(name);
  return found?.yml.name === name ? found : undefined;
}
