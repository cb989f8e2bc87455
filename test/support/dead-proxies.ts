const dead = "http://127.0.0.1:1";

/** An environment that names a proxy which does not answer, in every way that a program may read it. */
export const deadProxies: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["http_proxy", "https_proxy", "all_proxy", "ftp_proxy"].flatMap((name) => [
      [name, dead],
      [name.toUpperCase(), dead],
    ]),
  ),
  NODE_USE_ENV_PROXY: "1",
};
