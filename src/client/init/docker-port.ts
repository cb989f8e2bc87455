import { portIn } from "../../orchestration/core/build/hints/commands.ts";

/** Where the program of a Dockerfile listens, and what of it is not sure. */
export function dockerPort(dockerfile: string): { port: number | undefined; notes: string[] } {
  const [first, ...others] = exposedPorts(dockerfile);
  const way = "else correct ports and probes";
  if (first !== undefined) {
    const note = `of the ports of EXPOSE, ${first} is the one of the web, and not ${others.join(", ")}; ${way}`;
    return { port: first, notes: others.length === 0 ? [] : [note] };
  }
  const port = unexposed(dockerfile);
  const note = `the program listens on ${port}, as the Dockerfile has no EXPOSE and starts it so; ${way}`;
  return { port, notes: port === undefined ? [] : [note] };
}

/** The ports that the last stage of a Dockerfile exposes, the first of which is taken: TCP, and variables with their defaults. */
function exposedPorts(dockerfile: string): number[] {
  const last = /^[ \t]*EXPOSE\b/im.exec(stageOf(dockerfile)) === null ? dockerfile : stageOf(dockerfile);
  const words = [...last.matchAll(/^[ \t]*EXPOSE[ \t]+(\S[^\n#]*)$/gim)].flatMap(([, text = ""]) =>
    text.trim().split(/\s+/),
  );
  const ports = words.map((word) => {
    const [, name, usual] = /^\$\{?(\w+)(?::-(\d+))?\}?(?:\/tcp)?$/i.exec(word) ?? [];
    const value = name === undefined ? word : (usual ?? valueIn(dockerfile, name) ?? "");
    return Number(/^(\d{1,5})(?:\/tcp)?$/i.exec(value)?.[1] ?? Number.NaN);
  });
  return [...new Set(ports.filter((port) => port >= 1 && port <= 65_535))];
}

/** The port of a Dockerfile without EXPOSE: of its command, of PORT, or of a server that always has the same. */
function unexposed(dockerfile: string): number | undefined {
  const stage = stageOf(dockerfile);
  const start = [...stage.matchAll(/^[ \t]*(?:CMD|ENTRYPOINT)[ \t]+([^\n]+)$/gim)]
    .map(([, text = ""]) => text)
    .join(" ");
  const told = portIn(` ${start.replaceAll(/["',[\]]+/g, " ")}`) ?? Number(valueIn(stage, "PORT") ?? 0);
  if (told > 0) return told;
  const base = /^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)?(?:[\w.-]+\/)*(nginx|httpd|caddy|tomcat|php)\b(\S*)/im.exec(stage);
  if (base === null || (base[1] === "php" && !base[2]?.includes("apache"))) return undefined;
  return base[1] === "tomcat" ? 8080 : 80;
}

/** The last stage, which becomes the image. */
function stageOf(dockerfile: string): string {
  return dockerfile.slice([...dockerfile.matchAll(/^[ \t]*FROM\b/gim)].at(-1)?.index ?? 0);
}

/** The value that ENV or ARG give a variable. */
function valueIn(dockerfile: string, name: string): string | undefined {
  const lines = [...dockerfile.matchAll(/^[ \t]*(?:ENV|ARG)[ \t]+(\S[^\n]*)$/gim)].map(([, text = ""]) => text);
  const found = lines.flatMap(
    (text) => new RegExp(String.raw`(?:^|\s)${name}[= ]["']?(\d{1,5})\b`).exec(text)?.[1] ?? [],
  );
  return found.at(-1);
}
