import { noLanguage } from "../../orchestration/core/build/generate.ts";
import { inFolder } from "../../orchestration/core/build/node/parts.ts";
import { plainName, type SourceTree } from "../../orchestration/core/build/runtime.ts";
import { type Findings, type Look, lookAt } from "./look.ts";

const shownMax = 8;
/** Folders that hold no app of their own. */
const skipped = /^(?:\.|node_modules|vendor|venv|docs?\/|tests?\/|examples?\/|scripts?\/|dist\/|build\/)/;

/** The same as `lookAt`. Where the folder itself shows no language, the only app below it is taken. */
export function lookAround(tree: SourceTree, path?: string): Look {
  const look = lookAt(tree, path);
  if (look.ok || path !== undefined || !look.problem.startsWith(noLanguage)) return look;
  const apps = appsBelow(tree);
  const [only, ...others] = apps;
  if (only === undefined) return look;
  if (others.length > 0) {
    const names = apps.slice(0, shownMax).map(({ folder, findings }) => `${folder} (${findings.source.split(" ")[0]})`);
    return {
      ok: false,
      problem: `the folder holds several apps: ${names.join(", ")}; write a manifest for one with berth init ./${only.folder}`,
    };
  }
  const { folder, findings } = only;
  const note = `the app is in ${folder}, the only folder with one; to build another, set build.context`;
  return { ok: true, findings: { ...findings, place: { context: folder }, notes: [note, ...findings.notes] } };
}

interface App {
  folder: string;
  findings: Findings;
}

/** In folders of the tree, and one deeper in those that hold no app. */
function appsBelow(tree: SourceTree): App[] {
  const within = (folder: string) =>
    tree
      .list(folder)
      .filter((name) => name.endsWith("/") && !skipped.test(name) && plainName(name) !== undefined)
      .map((name) => (folder === "" ? name : `${folder}/${name}`).slice(0, -1));
  const appIn = (folder: string): App[] => {
    const look = lookAt(inFolder(tree, folder));
    return look.ok && look.findings.place === undefined ? [{ folder, findings: look.findings }] : [];
  };
  return within("").flatMap((folder) => {
    const own = appIn(folder);
    return own.length > 0 ? own : within(folder).flatMap(appIn);
  });
}
