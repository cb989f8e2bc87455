import { expect, test } from "bun:test";
import { defaultSettings } from "../../../../../src/identity/api/settings.ts";
import { settingForms } from "../../../../../src/observability/service/identity/setting-forms.ts";

const formOf = (wanted: string) => settingForms.find(({ name }) => name === wanted);

test("every setting has a form with a help", () => {
  expect(settingForms.map(({ name }) => name)).toEqual(Object.keys(defaultSettings));
  for (const { name, help } of settingForms) expect([name, help]).toEqual([name, expect.stringMatching(/\w/)]);
});

test.each([
  ["delivery", "word", ["query", "code", "form_post"]],
  ["email_signup", "flag", ["true", "false"]],
  ["redirect_uris", "list", undefined],
  ["min_password_length", "number", undefined],
  ["max_concurrent_sessions", "number", undefined],
  ["title", "text", undefined],
])("%s is a %s", (name, kind, choices) => {
  expect(formOf(name)).toEqual({
    name,
    help: expect.any(String),
    kind,
    ...(choices === undefined ? {} : { choices }),
  } as ReturnType<typeof formOf>);
});
