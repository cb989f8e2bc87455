/**
 * Entry points of threads; build.ts puts these files into the executable. In there every module has the URL of the executable
 * itself, beside which these lie as they lie in this folder: so only a file of this folder finds them in both.
 */
export const threads = {
  search: new URL("./identity/store/search/worker.ts", import.meta.url).href,
  logs: new URL("./observability/service/logs/worker.ts", import.meta.url).href,
  telemetry: new URL("./observability/service/telemetry/worker.ts", import.meta.url).href,
};
