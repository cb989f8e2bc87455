import { describe, expect, test } from "bun:test";
import { clientOptions, type ServeFlags, serveOptions } from "../../../src/config/config.ts";
import { parseInterval } from "../../../src/config/values.ts";

describe("allow private hooks", () => {
  test("is off unless the environment or the flag says so; the flag wins", () => {
    expect(serveOptions({}, {}).allowPrivateWebhooks).toBe(false);
    expect(serveOptions({}, { BERTH_ALLOW_PRIVATE_HOOKS: "1" }).allowPrivateWebhooks).toBe(true);
    expect(serveOptions({}, { BERTH_ALLOW_PRIVATE_HOOKS: "true" }).allowPrivateWebhooks).toBe(true);
    expect(serveOptions({}, { BERTH_ALLOW_PRIVATE_HOOKS: "" }).allowPrivateWebhooks).toBe(false);
    expect(
      serveOptions({ allowPrivateWebhooks: "true" }, { BERTH_ALLOW_PRIVATE_HOOKS: "0" }).allowPrivateWebhooks,
    ).toBe(true);
  });

  test("a word that is neither is refused, not guessed", () => {
    for (const word of ["on", "yes", "True", "1"])
      expect(serveOptions({}, { BERTH_ALLOW_PRIVATE_HOOKS: word }).allowPrivateWebhooks).toBe(true);
    for (const word of ["off", "no", "FALSE", "0"])
      expect(serveOptions({ allowPrivateWebhooks: word }, {}).allowPrivateWebhooks).toBe(false);
    expect(() => serveOptions({}, { BERTH_ALLOW_PRIVATE_HOOKS: "maybe" })).toThrow('"maybe" is not a boolean');
  });
});

describe("stats interval", () => {
  test("15 s unless the environment or the flag says otherwise; 0 turns it off", () => {
    expect(serveOptions({}, {}).statsIntervalMs).toBe(15_000);
    expect(serveOptions({}, { BERTH_STATS_INTERVAL: "1m" }).statsIntervalMs).toBe(60_000);
    expect(serveOptions({ statsIntervalMs: "0" }, { BERTH_STATS_INTERVAL: "1m" }).statsIntervalMs).toBe(0);
  });

  test.each(["", "15", "soon", "500ms", "-1s"])("%p is refused", (text) => {
    expect(() => parseInterval(text)).toThrow(`interval "${text}"`);
  });
});

describe("the identity service", () => {
  const base = (identityBaseUrl: string, identityAddr = "127.0.0.1:8688") =>
    serveOptions({ identityBaseUrl, identityAddr }, {}).identityBaseUrl;

  test("is reached where it listens unless somebody says where", () => {
    expect(serveOptions({}, {})).toMatchObject({
      identityAddr: "127.0.0.1:8688",
      identityBaseUrl: "http://127.0.0.1:8688",
      identityAllowPrivate: false,
      identityTrustedProxies: [],
    });
    expect(base("", "0.0.0.0:9000")).toBe("http://127.0.0.1:9000");
    expect(base("", "")).toBe("http://127.0.0.1:8688");
    expect(serveOptions({}, { BERTH_IDENTITY_BASE_URL: "https://id.test" }).identityBaseUrl).toBe("https://id.test");
  });

  test("over https, and plain http on loopback alone", () => {
    expect(base("https://id.test")).toBe("https://id.test");
    expect(base("https://id.test:8443/")).toBe("https://id.test:8443");
    expect(base("http://localhost:1")).toBe("http://localhost:1");
    expect(base("http://[::1]:1")).toBe("http://[::1]:1");
    expect(() => base("http://id.test")).toThrow('base url "http://id.test" is not https');
    expect(() => base("ftp://127.0.0.1")).toThrow("is not https");
  });

  test.each(["x", "id.test", "https://id.test/path", "https://id.test?x=1", "https://id.test#x", "https://u@id.test"])(
    "%p is no base url",
    (text) => expect(() => base(text)).toThrow(`base url "${text}"`),
  );

  test("proxies and private endpoints are named on purpose", () => {
    const env = {
      BERTH_IDENTITY_TRUSTED_PROXIES: " 10.0.0.0/8, ,::1/128",
      BERTH_IDENTITY_ALLOW_PRIVATE_ENDPOINTS: "1",
    };
    expect(serveOptions({}, env)).toMatchObject({
      identityTrustedProxies: ["10.0.0.0/8", "::1/128"],
      identityAllowPrivate: true,
    });
    expect(serveOptions({ identityTrustedProxies: "" }, {}).identityTrustedProxies).toEqual([]);
    expect(() => serveOptions({ identityAllowPrivate: "maybe" }, {})).toThrow("identity allow private endpoints");
  });

  test("a mail server needs a sender, and its address is not repeated when it is wrong", () => {
    const env = { BERTH_SMTP_URL: "smtp://u:hidden@mail.test:587", BERTH_MAIL_FROM: "Shop <no-reply@shop.test>" };
    expect(serveOptions({}, env)).toMatchObject({ smtpUrl: env.BERTH_SMTP_URL, mailFrom: env.BERTH_MAIL_FROM });
    expect(serveOptions({}, {})).toMatchObject({ smtpUrl: "", mailFrom: "" });
    expect(() => serveOptions({ smtpUrl: "smtp://mail.test" }, {})).toThrow("--mail-from");
    expect(() => serveOptions({ smtpUrl: "smtp://mail.test", mailFrom: "a@b\r\nBcc: c@d" }, {})).toThrow("--mail-from");
    expect(() => serveOptions({ smtpUrl: "http://u:hidden@mail.test" }, {})).toThrow(/^(?!.*hidden)/);
  });
});

describe("who may reach the orchestration plane", () => {
  const access = (flags: ServeFlags, env: Record<string, string> = {}) => {
    const { addr, addrInsecure, allowedHosts } = serveOptions(flags, env);
    return { addr, addrInsecure, allowedHosts };
  };
  test.each(["127.0.0.1:8686", "127.9.9.9:1", "[::1]:8686", "localhost:8686", ""])(
    "%j stays on this machine",
    (addr) => {
      expect(access({ addr })).toEqual({ addr, addrInsecure: false, allowedHosts: [] });
    },
  );
  test.each(["0.0.0.0:8686", ":8686", "[::]:8686", "10.0.0.5:8686", "berth.test:1"])(
    "%j is refused unless that is wanted",
    (addr) => {
      expect(() => access({ addr })).toThrow(`address "${addr}" is reachable from other machines`);
      expect(() => access({ addr })).toThrow("--addr-insecure");
      expect(access({ addr, addrInsecure: "true" }).addrInsecure).toBe(true);
      expect(access({ addr }, { BERTH_ADDR_INSECURE: "1" }).addrInsecure).toBe(true);
    },
  );
  test("the address that was named may stand in Host", () => {
    expect(access({ addr: "10.0.0.5:1", addrInsecure: "true" }).allowedHosts).toEqual(["10.0.0.5"]);
    expect(access({ addr: "[fd00::1]:1", addrInsecure: "true" }).allowedHosts).toEqual(["[fd00::1]"]);
  });
  test("names of proxies are listed by flag and environment", () => {
    expect(access({ allowedHosts: " Berth.shop.test, [FD00::1] ," }).allowedHosts).toEqual([
      "berth.shop.test",
      "[fd00::1]",
    ]);
    expect(access({}, { BERTH_ALLOWED_HOSTS: "a.test" }).allowedHosts).toEqual(["a.test"]);
  });
  test.each(["https://a.test", "a.test:443", "a.test/x", "*.a.test", "a b", "*"])("%j is no host to list", (host) => {
    expect(() => access({ allowedHosts: host })).toThrow("write it without https://, port and path");
  });
});

test.each([
  ["1", true],
  ["true", true],
  ["yes", true],
  ["0", false],
  ["", false],
  [undefined, false],
])("BERTH_AUTO_APPROVE=%p answers every question with yes: %p", (text, wanted) => {
  const env = text === undefined ? {} : { BERTH_AUTO_APPROVE: text };
  expect(clientOptions({}, false, env).autoApprove).toBe(wanted);
});

test("the image of HAProxy has a default, can be turned off, and has to be a reference", () => {
  expect(serveOptions({}, {}).ingressImage).toBe("haproxy:2.6");
  expect(serveOptions({}, { BERTH_INGRESS_IMAGE: "" }).ingressImage).toBe("");
  expect(
    serveOptions({ ingressImage: "registry.example.com:5000/haproxy:3.0" }, { BERTH_INGRESS_IMAGE: "" }),
  ).toMatchObject({
    ingressImage: "registry.example.com:5000/haproxy:3.0",
  });
  expect(serveOptions({}, { BERTH_INGRESS_PLUGIN: "caddy" }).ingressPlugin).toBe("caddy");
  expect(() => serveOptions({ ingressPlugin: "../x" }, {})).toThrow('ingress plugin "../x" is not a plugin name');
  expect(() => serveOptions({ ingressImage: "--privileged" }, {})).toThrow(
    /ingress image "--privileged" is not an image/,
  );
});
