import { defaultSettings, type EffectiveSettings, InstanceSettings } from "../../../identity/api/settings.ts";
import type { SettingForm } from "../../api/identity.ts";

interface Schema {
  type?: string;
  description?: string;
  anyOf?: readonly { const?: unknown; type?: string }[];
}

const names = Object.keys(defaultSettings) as (keyof EffectiveSettings)[];

/** The settings of an instance as a form asks for them: read off their schema, so that a new one has a form at once. */
export const settingForms: SettingForm[] = names.map((name) => {
  const { type, description: help = "", anyOf = [] } = InstanceSettings.properties[name] as Schema;
  const words = anyOf.flatMap((one) => (typeof one.const === "string" ? [one.const] : []));
  if (type === "boolean") return { name, help, kind: "flag", choices: ["true", "false"] };
  if (words.length > 0) return { name, help, kind: "word", choices: words };
  if (type === "array") return { name, help, kind: "list" };
  const isNumber = type === "integer" || anyOf.some((one) => one.type === "integer");
  return { name, help, kind: isNumber ? "number" : "text" };
});
