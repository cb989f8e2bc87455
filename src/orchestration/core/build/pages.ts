import { type Adapted, lines } from "./runtime.ts";

/** How a web server finds a page: every path leads to one page, or each path has its own. */
export type PagesStyle = "one page" | "pages";

/** The last stage of a build that makes pages: a web server with the folder. */
export function servePages(folder: string, style: PagesStyle, below = ""): string {
  const place = below === "" ? "" : `/${below}`;
  const rest = style === "one page" ? `${place}/index.html` : "=404";
  const tries = `try_files $uri $uri/ $uri.html ${rest};`;
  const server = [
    "server {",
    "  listen 80;",
    "  root /usr/share/nginx/html;",
    `  location / { ${tries} }`,
    ...(below === "" ? [] : [`  location = / { return 302 ${place}/; }`]),
    ...(style === "pages" ? [`  error_page 404 ${place}/404.html;`] : []),
    "}",
  ];
  const config = server.map((line) => `'${line}'`).join(" ");
  return lines(
    "FROM ${RUN_BASE}",
    `RUN printf '%s\\n' ${config} >/etc/nginx/conf.d/default.conf`,
    `COPY --from=build ${folder} /usr/share/nginx/html${place}`,
    "EXPOSE 80",
  );
}

/** A line for an image whose web server serves the whole source folder: visitors must not read the manifests in it. */
export function hideManifests(folder: string): string {
  const files = ["berth.yaml", "berth.yml", "berth.json", "berth.hcl", "berth.voodu", "berth.vdu", "berth.vd"];
  return `RUN rm -rf ${[...files, ".berth", ".voodu"].map((name) => folder + name).join(" ")}`;
}

export const pagesBase = "ARG RUN_BASE=nginx:alpine";

/** Parts of a plan whose image only serves pages: what others would start is not in it. */
export const servedByNginx = { port: 80, isTold: true, adapt: (): Adapted => ({ instead: "nginx with the pages" }) };
