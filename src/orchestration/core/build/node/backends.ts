import { fieldsOf, jsonOf, plainName, type SourceTree } from "../runtime.ts";
import type { PagesStyle } from "../pages.ts";
import type { PackageJson } from "./package-json.ts";

/** Where a part of a repository is: `folder` ends with a slash, or is empty. */
export interface NodeApp {
  tree: SourceTree;
  folder: string;
  package: PackageJson;
}

/** How a framework's app is built and run. */
export type NodePlan =
  /** A program: words after the packager's `exec`, or `node FILE`. `build` is used where package.json has no such script. */
  | {
      type: "program";
      start: string[] | { exec: string[] };
      build?: string[] | undefined;
      note?: string | undefined;
      /** The start script of package.json does not start it. */
      isOnlyStart?: boolean;
    }
  /** Pages in a folder that the build makes. */
  | { type: "pages"; folder: string; style: PagesStyle; build?: string[] | undefined; note?: string | undefined }
  | { type: "problem"; problem: string };

/** A workspace of Nest: `nest build` makes the application that nest-cli.json names first, in a folder of its own. */
export function nestPlan({ tree, folder, package: found }: NodeApp): NodePlan {
  const build = found.dependencies["@nestjs/cli"] === undefined ? ["tsc"] : ["nest", "build"];
  const usual: NodePlan = { type: "program", start: ["node", "dist/main"], build };
  const config = jsonOf(tree, `${folder}nest-cli.json`);
  const root = plainName(typeof config.root === "string" ? config.root : undefined);
  if (config.monorepo !== true || root === undefined) return usual;
  const others = Object.values(fieldsOf(config.projects)).flatMap((project) => {
    const { type, root: other } = fieldsOf(project);
    return type === "application" && typeof other === "string" && other !== root ? [other] : [];
  });
  const note = `of the applications of nest-cli.json, ${root} is started, and not ${others.join(", ")}; to start another, set build.lang.entrypoint: dist/NAME/main.js, and add nest build NAME to the build script`;
  return {
    ...{ type: "program", start: ["node", `dist/${root}/main`], build: ["nest", "build"], isOnlyStart: true },
    ...(others.length === 0 ? {} : { note }),
  };
}

export const meteor =
  'package.json is of Meteor, whose program "meteor build" makes outside of the folder; berth makes no image of it: write a Dockerfile';

/** It serves its pages and its functions by one program. */
export function redwoodPlan(): NodePlan {
  return { type: "program", start: { exec: ["rw", "serve", "--port", "3000"] }, build: ["rw", "build"] };
}

/** The build is a folder of its own, with the file that starts. */
export function adonisPlan({ package: { dependencies } }: NodeApp): NodePlan {
  const isOld = /^[~^=v\s]*[1-5]\./.test(dependencies["@adonisjs/core"] ?? "");
  const file = isOld ? "build/server.js" : "build/bin/server.js";
  return { type: "program", start: ["node", file], build: ["node", "ace", "build"], isOnlyStart: true };
}

/** The project of the folder itself: what its build makes starts, as "nx serve" is for developers. */
export function nxPlan({ tree, folder, package: { scripts } }: NodeApp): NodePlan {
  const { targets } = jsonOf(tree, `${folder}project.json`);
  const { executor, options } = fieldsOf(fieldsOf(targets).build);
  const { outputPath, main } = fieldsOf(options);
  const place = plainName(typeof outputPath === "string" ? outputPath : undefined);
  const isProgram = typeof executor === "string" && /:(?:esbuild|webpack|tsc|swc|node)/.test(executor);
  if (place !== undefined && isProgram && typeof main === "string") {
    const file =
      main
        .split("/")
        .at(-1)
        ?.replace(/\.[cm]?ts$/, ".js") ?? "main.js";
    return { type: "program", start: ["node", `${place}/${file}`], build: ["nx", "build"], isOnlyStart: true };
  }
  if (place !== undefined && typeof executor === "string" && /vite|angular|rspack/.test(executor))
    return { type: "pages", folder: place, style: "one page", build: ["nx", "build"] };
  const own = ["start:prod", "start:production"].find((name) => scripts[name] !== undefined);
  if (own !== undefined) return { type: "program", start: ["npm", "run", own] };
  return {
    type: "problem",
    problem:
      'package.json is of an Nx workspace, and nothing says which of its projects starts: add a script "start:prod", such as node dist/apps/api/main.js, and a script "build" that makes it',
  };
}

export const worker =
  "the app is a Worker of Cloudflare (wrangler), which starts in no container: serve it, for example by @hono/node-server, and add a start script";

/** Whether only Cloudflare runs the program: it is named for that, and neither it nor another file listens. */
export function isWorker({ tree, folder }: NodeApp, file: string | undefined): boolean {
  const settings = ["wrangler.toml", "wrangler.json", "wrangler.jsonc"].map((name) => tree.read(folder + name) ?? "");
  const main = /^[ \t]{0,9}"?main"?\s{0,9}[=:]\s{0,9}"([\w./-]{1,100})"/m.exec(settings.join("\n"))?.[1];
  const texts = [main, file].map((name) => (name === undefined ? "" : (tree.read(folder + name) ?? "")));
  return main !== undefined && !texts.some((text) => /\.listen\(|\bserve\(|createServer\(/.test(text));
}
