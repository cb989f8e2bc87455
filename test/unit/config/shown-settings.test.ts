import { expect, test } from "bun:test";
import { serveOptions } from "../../../src/config/config.ts";
import { settingFlags, shownSettings } from "../../../src/config/shown-settings.ts";

test("settings are shown as they are, with the flag and the variable that change them", () => {
  const shown = shownSettings(serveOptions({ observabilityAddr: "127.0.0.1:1" }, {}));
  expect(shown).toContainEqual({
    flag: "--observability-addr",
    variable: "BERTH_OBSERVABILITY_ADDR",
    value: "127.0.0.1:1",
  });
  expect(shown).toContainEqual({ flag: "--stats-interval", variable: "BERTH_STATS_INTERVAL", value: "15s" });
  expect(new Set(shown.map(({ flag }) => flag)).size).toBe(shown.length);
});

test("the password of the mail server is never among them", () => {
  const url = "smtps://ana:s3cret@mail.example:465";
  const shown = shownSettings(serveOptions({ smtpUrl: url, mailFrom: "Shop <a@shop.example>" }, {}));
  expect(JSON.stringify(shown)).not.toContain("s3cret");
  expect(shown.find(({ flag }) => flag === "--smtp-url")?.value).toBe("mail.example:465");
});

test.each([
  {},
  { addr: "", observabilityAddr: "", identityAddr: "", ingressHttpAddr: "", ingressHttpsAddr: "", ingressImage: "" },
  { root: "/srv/b", prefix: "shop", addr: "0.0.0.0:1", addrInsecure: "true", dockerHost: "tcp://10.0.0.1:2375" },
  { observabilityTls: "/etc/c.pem,/etc/k.pem", identityBaseUrl: "https://login.example", ingressHttpAddr: ":8080" },
])("what is shown of %p is understood again", (flags) => {
  const options = serveOptions(flags, {});
  expect(serveOptions(settingFlags(shownSettings(options)), {})).toEqual(options);
});
