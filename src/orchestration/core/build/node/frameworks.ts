import type { PagesStyle } from "../pages.ts";
import { jsonOf, plainName } from "../runtime.ts";
import { adonisPlan, meteor, nestPlan, type NodeApp, type NodePlan, nxPlan, redwoodPlan } from "./backends.ts";
import type { PackageJson } from "./package-json.ts";

interface Framework {
  name: string;
  /** A dependency that shows it. */
  dependency: string;
  plan(app: NodeApp): NodePlan;
}

const pages =
  (folder: string, style: PagesStyle, build?: string[]) =>
  (_app: NodeApp): NodePlan => ({ type: "pages", folder, style, build });

/** Those that build on others come first: each of the last is also a part of the first. */
const frameworks: readonly Framework[] = [
  { name: "next", dependency: "next", plan: nextPlan },
  { name: "nuxt", dependency: "nuxt", plan: nuxtPlan },
  { name: "redwood", dependency: "@redwoodjs/core", plan: redwoodPlan },
  { name: "adonis", dependency: "@adonisjs/core", plan: adonisPlan },
  { name: "meteor", dependency: "meteor-node-stubs", plan: () => ({ type: "problem", problem: meteor }) },
  {
    name: "tanstack-start",
    dependency: "@tanstack/react-start",
    plan: () => ({ type: "program", start: ["node", ".output/server/index.mjs"], build: ["vite", "build"] }),
  },
  {
    name: "solid-start",
    dependency: "@solidjs/start",
    plan: () => ({ type: "program", start: ["node", ".output/server/index.mjs"], build: ["vinxi", "build"] }),
  },
  { name: "sveltekit", dependency: "@sveltejs/kit", plan: svelteKitPlan },
  { name: "astro", dependency: "astro", plan: astroPlan },
  {
    name: "nest",
    dependency: "@nestjs/core",
    plan: nestPlan,
  },
  {
    name: "remix",
    dependency: "@remix-run/serve",
    plan: () => ({
      ...{ type: "program", build: ["remix", "vite:build"] },
      start: { exec: ["remix-serve", "build/server/index.js"] },
    }),
  },
  {
    name: "react-router",
    dependency: "@react-router/serve",
    plan: (app) =>
      /\bssr\s*:\s*false/.test(config(app, "react-router.config"))
        ? { type: "pages", folder: "build/client", style: "one page", build: ["react-router", "build"] }
        : {
            ...{ type: "program", build: ["react-router", "build"] },
            start: { exec: ["react-router-serve", "build/server/index.js"] },
          },
  },
  { name: "expo", dependency: "expo", plan: expoPlan },
  { name: "angular", dependency: "@angular/core", plan: angularPlan },
  { name: "gatsby", dependency: "gatsby", plan: pages("public", "pages", ["gatsby", "build"]) },
  { name: "docusaurus", dependency: "@docusaurus/core", plan: pages("build", "pages", ["docusaurus", "build"]) },
  {
    name: "vitepress",
    dependency: "vitepress",
    plan: ({ tree, folder }) => {
      const docs = tree.has(`${folder}docs/.vitepress`) ? "docs" : ".";
      const made = docs === "." ? ".vitepress/dist" : `${docs}/.vitepress/dist`;
      return { type: "pages", folder: made, style: "pages", build: ["vitepress", "build", docs] };
    },
  },
  { name: "eleventy", dependency: "@11ty/eleventy", plan: eleventyPlan },
  { name: "stencil", dependency: "@stencil/core", plan: stencilPlan },
  { name: "hexo", dependency: "hexo", plan: pages("public", "pages", ["hexo", "generate"]) },
  { name: "react-scripts", dependency: "react-scripts", plan: pages("build", "one page", ["react-scripts", "build"]) },
  { name: "vue-cli", dependency: "@vue/cli-service", plan: pages("dist", "one page", ["vue-cli-service", "build"]) },
  { name: "ember", dependency: "ember-cli", plan: pages("dist", "one page", ["ember", "build", "-prod"]) },
  { name: "nx", dependency: "nx", plan: nxPlan },
  { name: "vite", dependency: "vite", plan: vitePlan },
  { name: "parcel", dependency: "parcel", plan: parcelPlan },
  { name: "webpack", dependency: "webpack", plan: webpackPlan },
];

export function frameworkOf({ dependencies }: PackageJson): Framework | undefined {
  return frameworks.find(({ dependency }) => dependencies[dependency] !== undefined);
}

/** Packages that listen. One of them beside a bundler of pages makes the app a program. */
const servers = [
  ...["express", "fastify", "koa", "@hapi/hapi", "hono", "@hono/node-server", "restify", "polka", "h3", "elysia"],
  ...[
    "socket.io",
    "ws",
    "apollo-server",
    "@apollo/server",
    "graphql-yoga",
    "@adonisjs/core",
    "@strapi/strapi",
    "moleculer",
  ],
];

export function hasServer({ dependencies }: PackageJson): boolean {
  return servers.some((name) => dependencies[name] !== undefined);
}

/** Packages of chat bots, which call a service and listen nowhere. */
const bots = ["discord.js", "eris", "telegraf", "grammy", "node-telegram-bot-api", "whatsapp-web.js", "tmi.js"];

/** Whether a program only calls others. */
export function onlyTalks(found: PackageJson): boolean {
  return (
    !hasServer(found) && [...bots, "@whiskeysockets/baileys"].some((name) => found.dependencies[name] !== undefined)
  );
}

function config(app: NodeApp, base: string): string {
  const endings = ["js", "mjs", "cjs", "ts", "mts"];
  return endings.map((ending) => app.tree.read(`${app.folder}${base}.${ending}`) ?? "").join("\n");
}

function nextPlan(app: NodeApp): NodePlan {
  const text = config(app, "next.config");
  const build = ["next", "build"];
  if (/output\s*:\s*["']export["']/.test(text)) return { type: "pages", folder: "out", style: "pages", build };
  return { type: "program", start: { exec: ["next", "start"] }, build };
}

/** The version before the third starts and generates otherwise. */
function nuxtPlan({ package: { scripts, dependencies } }: NodeApp): NodePlan {
  const isOld = /^[~^=v\s]*[12]\./.test(dependencies.nuxt ?? "");
  if (/\bnux(?:t|i) generate\b/.test(scripts.build ?? ""))
    return { type: "pages", folder: isOld ? "dist" : ".output/public", style: "pages" };
  const start = isOld ? { exec: ["nuxt", "start"] } : ["node", ".output/server/index.mjs"];
  return { type: "program", start, build: ["nuxt", "build"] };
}

function expoPlan({ package: { dependencies } }: NodeApp): NodePlan {
  if (dependencies["react-native-web"] !== undefined)
    return { type: "pages", folder: "dist", style: "one page", build: ["expo", "export", "-p", "web"] };
  return {
    type: "problem",
    problem:
      "package.json is of an app for phones (expo without react-native-web), which no server runs: name the folder of its server in build.context",
  };
}

/** The pages of a bundler that has no convention but its own default. */
function webpackPlan(app: NodeApp): NodePlan {
  const text = [config(app, "webpack.config"), config(app, "webpack.prod"), config(app, "webpack.common")].join("\n");
  const folder = /\bpath\s*:\s*(?:\w+\.)?(?:resolve|join)\(\s*__dirname,\s*["'](?:\.\/)?([\w-][\w./-]{0,100})["']/.exec(
    text,
  )?.[1];
  const note = `webpack is taken to make pages in ${folder ?? "dist"}; if this is a program, add a start script`;
  return {
    type: "pages",
    folder: folder ?? "dist",
    style: "one page",
    build: ["webpack", "--mode", "production"],
    note,
  };
}

function svelteKitPlan(app: NodeApp): NodePlan {
  const named = /@sveltejs\/adapter-(\w+)/.exec(config(app, "svelte.config"))?.[1];
  const isThere = (adapter: string) => app.package.dependencies[`@sveltejs/adapter-${adapter}`] !== undefined;
  const has = (adapter: string) => (named === undefined ? isThere(adapter) : named === adapter);
  const build = ["vite", "build"];
  if (has("node")) return { type: "program", start: ["node", "build"], build };
  if (has("static")) return { type: "pages", folder: "build", style: "one page", build };
  return {
    type: "problem",
    problem:
      "SvelteKit has no adapter for a server of its own: install @sveltejs/adapter-node (or @sveltejs/adapter-static for pages alone) and name it in svelte.config.js",
  };
}

function astroPlan(app: NodeApp): NodePlan {
  const build = ["astro", "build"];
  if (app.package.dependencies["@astrojs/node"] !== undefined)
    return { type: "program", start: ["node", "dist/server/entry.mjs"], build };
  if (/\boutput\s*:\s*["'](?:server|hybrid)["']/.test(config(app, "astro.config")))
    return {
      type: "problem",
      problem:
        "Astro renders on a server, and has no adapter for one of its own: install @astrojs/node and name it in astro.config",
    };
  return { type: "pages", folder: "dist", style: "pages", build };
}

function angularPlan(app: NodeApp): NodePlan {
  const { tree, folder } = app;
  const build = ["ng", "build"];
  const text = tree.read(`${folder}angular.json`) ?? "";
  let projects: [string, string][] = [];
  try {
    const json = JSON.parse(text) as { projects?: Record<string, Record<string, never>> };
    projects = Object.entries(json.projects ?? {})
      .filter(([name, project]) => (project.projectType as unknown) !== "library" && plainName(name) !== undefined)
      .map(([name, project]) => [name, outputOf(name, project)]);
  } catch {
    // Reported below: without angular.json it is not known where the pages are.
  }
  const [first, ...others] = projects;
  if (first === undefined)
    return { type: "problem", problem: "angular.json names no application, so the folder of its pages is not known" };
  const [name, output] = first;
  const rendersPages = tree.has(`${folder}server.ts`) || /"ssr"\s*:\s*(?:true|\{)/.test(text);
  if (app.package.dependencies["@angular/ssr"] !== undefined && rendersPages)
    return { type: "program", start: ["node", `${output.replace(/\/browser$/, "")}/server/server.mjs`], build };
  const more = others.map(([other]) => other).join(", ");
  const note = more === "" ? undefined : `of the applications of angular.json, ${name} is built, and not ${more}`;
  return { type: "pages", folder: output, style: "one page", build, note };
}

/** The builder `application` puts pages into a folder of its own; the older one does not. */
function outputOf(name: string, project: Record<string, unknown>): string {
  const options = project.architect ?? project.targets;
  const { builder = "", options: own = {} } = ((options as Record<string, unknown> | undefined)?.build ?? {}) as {
    builder?: string;
    options?: { outputPath?: string | { base?: string } };
  };
  const { outputPath } = own;
  const base = plainName(typeof outputPath === "string" ? outputPath : outputPath?.base) ?? `dist/${name}`;
  return /:application$/.test(builder) ? `${base}/browser` : base;
}

function vitePlan(app: NodeApp): NodePlan {
  const text = config(app, "vite.config");
  const named =
    /--outDir[= ]([\w./-]+)/.exec(app.package.scripts.build ?? "")?.[1] ??
    /outDir\s*:\s*["']([\w./-]+)["']/.exec(text)?.[1];
  const root = /^[ \t]*root[ \t]*:[ \t]*["'](?:\.\/)?([\w./-]+?)\/?["']/m.exec(text)?.[1];
  const folder = joined(root ?? "", named ?? "dist");
  return { type: "pages", folder, style: "one page", build: ["vite", "build"] };
}

function eleventyPlan(app: NodeApp): NodePlan {
  const text = [config(app, "eleventy.config"), app.tree.read(`${app.folder}.eleventy.js`) ?? ""].join("\n");
  const folder =
    /--output[= ](?:\.\/)?([\w./-]{1,60})/.exec(app.package.scripts.build ?? "")?.[1] ??
    /\boutput\s{0,3}:\s{0,3}["'](?:\.\/)?([\w./-]{1,60})["']/.exec(text)?.[1] ??
    "_site";
  return { type: "pages", folder: folder.replace(/\/$/, ""), style: "pages", build: ["eleventy"] };
}

/** An app has the target "www"; a library of parts has none. */
function stencilPlan(app: NodeApp): NodePlan {
  const www = /type\s{0,3}:\s{0,3}["']www["']([^}]{0,300})/.exec(config(app, "stencil.config"));
  const folder = /\bdir\s{0,3}:\s{0,3}["'](?:\.\/)?([\w./-]{1,60}?)\/?["']/.exec(www?.[1] ?? "")?.[1] ?? "www";
  return { type: "pages", folder, style: "one page", build: ["stencil", "build"] };
}

function parcelPlan({ package: { scripts } }: NodeApp): NodePlan {
  const file = /parcel(?: build)? ([\w./-]+\.html)/.exec(`${scripts.build} ${scripts.start}`)?.[1] ?? "index.html";
  return { type: "pages", folder: "dist", style: "pages", build: ["parcel", "build", file] };
}

const bases: Readonly<Record<string, [file: string, pattern: RegExp]>> = {
  astro: ["astro.config", /^[ \t]*base[ \t]*:[^\n"']{0,80}["']\/?([\w-]{1,60}(?:\/[\w-]{1,60}){0,3})\/?["']/m],
  vite: [
    "vite.config",
    /^[ \t]*base[ \t]*:[^\n"']{0,80}(?:["']production["'][^\n"']{0,20})?["']\/?([\w-]{1,60}(?:\/[\w-]{1,60}){0,3})\/["']/m,
  ],
  docusaurus: ["docusaurus.config", /^[ \t]*baseUrl[ \t]*:[ \t]*["']\/?([\w-]{1,60}(?:\/[\w-]{1,60}){0,3})\/?["']/m],
  "vue-cli": [
    "vue.config",
    /^[ \t]*publicPath[ \t]*:[^\n"']{0,80}(?:["']production["'][^\n"']{0,20})?["']\/([\w-]{1,60}(?:\/[\w-]{1,60}){0,3})\/?["']/m,
  ],
};

/** The path below which the pages find their files: `shop` of `base: "/shop/"`, and the file that says it. */
export function pagesBelow(app: NodeApp): { below: string; from: string } | undefined {
  const name = frameworkOf(app.package)?.name ?? "";
  const [file, pattern] = bases[name] ?? [];
  const said = file === undefined ? undefined : pattern?.exec(config(app, file))?.[1];
  if (said !== undefined && file !== undefined) return { below: said, from: file };
  const { homepage: page } = jsonOf(app.tree, `${app.folder}package.json`);
  const address = name === "react-scripts" && typeof page === "string" ? page : "";
  const homepage = /^(?:https?:\/\/[^"/]{1,200})?\/([\w-]{1,60}(?:\/[\w-]{1,60}){0,3})\/?$/.exec(address)?.[1];
  return homepage === undefined ? undefined : { below: homepage, from: "homepage of package.json" };
}

/** `src` and `../dist` are `dist`. */
function joined(root: string, folder: string): string {
  const parts = root.split("/").filter((part) => part !== "" && part !== ".");
  for (const part of folder.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
