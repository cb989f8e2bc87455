import type { SourceTree } from "../runtime.ts";
import { type App, needsMark } from "./needs.ts";
import type { Sources } from "./sources.ts";

const filesMax = 150;
const foldersMax = 60;
const textMax = 64 * 1024;

/** Folders with what visitors get. */
const visited = [
  ...[
    "public",
    "static",
    "client",
    "frontend",
    "views",
    "templates",
    "wwwroot",
    "assets",
    "app/static",
    "app/templates",
  ],
  ...["app/views", "app/javascript", "resources/js", "resources/views", "src/public", "src/views", "web/static"],
  ...["src/main/resources/static", "src/main/resources/templates"],
];
const page = /(?<!\.min)\.(?:html?|ejs|hbs|pug|erb|php|twig|jinja2?|vue|svelte|astro|[cm]?[jt]sx?|cshtml|razor)$/;
const unread = /^(?:node_modules|vendor|dist|build|lib|libs|plugins|docs?|tests?|__tests__|e2e|\.[\w-]{1,60})\/$/;

/** What is only for developers: a list of who may ask, a line of a log, a server of a tool. */
const talk =
  /^\s{0,80}(?:\/\/|#|\*|<!--)|console|print|\blog|cors|origin|allow|swagger|location\.host|proxy|\benv\b|environ/i;
const here = String.raw`(?:localhost|127\.0\.0\.1)`;
const isHere = new RegExp(String.raw`${here}`);
const byPage = new RegExp(String.raw`["'\x60=](?<at>(?:https?|wss?):\/\/${here}(?::\d{2,5})?)(?![\d.])`);
/** A call, or a name of an address that is called. */
const calls =
  /\bfetch\b|\baxios\b|\brequests\.|\bhttpx\.|\bhttp\.(?:Get|Post|NewRequest|get|post|request)\b|\burlopen\b|Http(?:Client|Request)|HTTP(?:Party|Client)|RestTemplate|WebClient|Faraday|curl_|(?:[aA]pi|API|[sS]ervice|SERVICE|[bB]ackend|BACKEND|[bB]ase|BASE|[eE]ndpoint|ENDPOINT|[rR]emote|REMOTE|[tT]arget|TARGET|[uU]rl|URL|[uU]ri|URI)[\w-]{0,20}["']?[ \t]{0,3}[:=(]/;
const others = String.raw`(?!www\b|example\b|host\b|your)[a-z][a-z\d_-]{1,40}`;
const host = String.raw`(?:${here}|${others})`;
const byCode = new RegExp(String.raw`["'\x60](?<at>https?:\/\/${host}(?::\d{2,5}|(?=["'\x60/])))`);

/** A link that the program makes of parts, or leads visitors to. */
const link = String.raw`(?<at>https?:\/\/${here}(?::\d{2,5})?)`;
const goesOn = String.raw`\/[^\s"'\x60{$]{0,200}(?:["'\x60][ \t]{0,3}[+.][ \t]{0,3}[\w$(]|[$#]?\{\w)`;
const byLink = new RegExp(String.raw`${link}${goesOn}`);
const byRedirect = new RegExp(String.raw`[rR]edirect\w{0,10}\([ \t]{0,3}["'\x60]${link}`);

/** A place that the program or its pages ask, and that is another machine once it runs in a container. */
export function askedNotes(
  tree: SourceTree,
  { sources, folder }: App,
  own: { port?: number | undefined; isPages: boolean },
): string[] {
  const pages = pageFiles(tree, folder, sources, own.isPages);
  const asked = firstIn(pages, byPage, () => true);
  const called = own.isPages
    ? undefined
    : firstIn(sources.files, byCode, (line, at) => calls.test(line) && !at.endsWith(`:${own.port}`));
  // One with the own port at its beginning is said as the own address.
  const isOther = (line: string, at: string) =>
    !(at.endsWith(`:${own.port}`) && ['"', "'", "`"].some((quote) => line.includes(quote + at)));
  const led = own.isPages
    ? undefined
    : (firstIn(sources.files, byRedirect, isOther) ?? firstIn(sources.files, byLink, isOther));
  return [
    ...(led === undefined || led.path === asked?.path || led.path === called?.path
      ? []
      : [
          `${needsMark}the address of its links from a variable: ${led.path} leads visitors to ${led.at}, which is their own machine`,
        ]),
    ...(asked === undefined
      ? []
      : [
          `${needsMark}another address in its pages: ${asked.path} asks ${asked.at}, which is the machine of each visitor; write a path alone, or an address that visitors reach`,
        ]),
    ...(called === undefined || called.path === asked?.path
      ? []
      : [
          `${needsMark}the address of what ${called.path} asks from a variable: ${called.at} is ${isHere.test(called.at) ? "the container itself" : "a host of another network"}, where nothing of it listens`,
        ]),
  ];
}

function firstIn(
  files: Sources["files"],
  pattern: RegExp,
  matters: (line: string, at: string) => boolean,
): { path: string; at: string } | undefined {
  for (const { path, text } of files) {
    if (!text.includes("://")) continue;
    for (const line of text.split("\n")) {
      const at = line.length > 1000 || talk.test(line) ? undefined : pattern.exec(line)?.groups?.at;
      if (at !== undefined && matters(line, at)) return { path, at };
    }
  }
  return undefined;
}

/** Files that visitors get: those of a whole site, or of the folders beside a program. */
function pageFiles(tree: SourceTree, folder: string, { files }: Sources, isPages: boolean): Sources["files"] {
  const queue = isPages ? [folder] : visited.map((name) => `${folder}${name}/`);
  const found: Sources["files"] = [];
  for (let looks = 0; queue.length > 0 && looks < foldersMax && found.length < filesMax;) {
    const at = queue.shift() ?? "";
    const names = tree.list(at.replace(/\/$/, ""));
    if (names.length > 0) looks++;
    for (const name of names) {
      if (name.endsWith("/")) {
        if (!unread.test(name)) queue.push(at + name);
      } else if (
        page.test(name) &&
        !/\.(?:config|test|spec|stories|d)\.\w{1,4}$|^(?:environment(?:\.dev\w{0,20})?|setupProxy)\.\w{2}$/.test(name)
      )
        found.push({ path: at + name, text: (tree.read(at + name) ?? "").slice(0, textMax) });
    }
  }
  return isPages
    ? [
        ...files.filter(
          ({ path }) => !found.some((one) => one.path === path) && !/environment(?:\.dev\w{0,20})?\.ts$/.test(path),
        ),
        ...found,
      ]
    : found;
}
