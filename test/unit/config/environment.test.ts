import { expect, test } from "bun:test";
import {
  clientOptions,
  pluginEnvironment,
  proxyVariables,
  serverVariables,
  serveOptions,
} from "../../../src/config/config.ts";

const offWhenEmpty = {
  BERTH_ADDR: "addr",
  BERTH_OBSERVABILITY_ADDR: "observabilityAddr",
  BERTH_IDENTITY_ADDR: "identityAddr",
  BERTH_INGRESS_HTTP_ADDR: "ingressHttpAddr",
  BERTH_INGRESS_HTTPS_ADDR: "ingressHttpsAddr",
  BERTH_INGRESS_IMAGE: "ingressImage",
} as const;

/** Every variable that is read, by reading from an environment that takes note. */
function readBy(read: (env: Record<string, string | undefined>) => unknown): string[] {
  const names = new Set<string>();
  const env = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_, name) => {
        names.add(String(name));
        return undefined;
      },
    },
  );
  read(env);
  return [...names];
}

test("an empty variable counts as unset, except where empty turns something off", () => {
  const unset = serveOptions({}, {});
  const names = ["DOCKER_HOST", ...["ROOT", "PREFIX", "LOG_LEVEL", "STATS_INTERVAL", "CALLBACK_PORT"].map(withPrefix)];
  const more = ["TELEMETRY_PORT", "PLUGIN_RELEASES", "ADDR_INSECURE", "ALLOWED_HOSTS", "OBSERVABILITY_TLS"];
  const last = ["IDENTITY_BASE_URL", "IDENTITY_TRUSTED_PROXIES", "SMTP_URL", "MAIL_FROM", "INGRESS_UNIT"];
  for (const name of [...names, ...more.map(withPrefix), ...last.map(withPrefix)]) {
    expect([name, serveOptions({}, { [name]: "" })]).toEqual([name, unset]);
  }
  for (const [name, option] of Object.entries(offWhenEmpty)) {
    expect([name, serveOptions({}, { [name]: "" })[option]]).toEqual([name, ""]);
  }
});

test("so it does for the client and for plugins", () => {
  const known = readBy((env) => clientOptions({}, true, env));
  expect(known).toContain("BERTH_ENDPOINT");
  const unset = clientOptions({}, true, {});
  for (const name of known) expect([name, clientOptions({}, true, { [name]: "" })]).toEqual([name, unset]);
  expect(pluginEnvironment({ PATH: "", HOME: "" })).toEqual(pluginEnvironment({}));
});

test.each([
  ["http://user:password@p.test:1", "http://p.test:1"],
  ["http://user@p.test:1", "http://p.test:1"],
  ["user:p@ss/word@p.test:1", "p.test:1"],
  ["HTTP://user:pass#1?@p.test", "HTTP://p.test"],
  ["http://p.test:1", "http://p.test:1"],
])("plugins get the proxy %s without its user", (given, passed) => {
  for (const name of ["http_proxy", "HTTPS_PROXY", "All_Proxy"]) {
    expect(pluginEnvironment({ PATH: "/bin", [name]: given })).toMatchObject({ [name]: passed });
  }
});

test("of the server's variables those are passed that are named and set", () => {
  const env = { A: "1", B: "", C: "3" };
  expect(serverVariables(["A", "B", "D", "constructor"], env)).toEqual({ A: "1" });
});

function withPrefix(name: string): string {
  return `BERTH_${name}`;
}

test("plugins reach this machine without the proxy, and only then get more than the environment has", () => {
  expect(pluginEnvironment({ PATH: "/bin", no_proxy: "a.test" })).toEqual({ PATH: "/bin", no_proxy: "a.test" });
  const given = { PATH: "/bin", HTTPS_PROXY: "http://p:1", NO_PROXY: "a.test" };
  const hosts = "a.test,localhost,127.0.0.1,::1,127.0.0.0/8";
  expect(pluginEnvironment(given)).toEqual({ ...given, no_proxy: hosts, NO_PROXY: hosts });
  expect(proxyVariables({ ...given, SECRET: "x" })).toEqual({ HTTPS_PROXY: "http://p:1", NO_PROXY: "a.test" });
});
