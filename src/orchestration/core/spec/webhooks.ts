import { webhookDefaults } from "../../api/kinds/defaults.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { type Fields, listOf, textMapOf, textOf } from "./lenient.ts";

/** One webhook of a spec; one without a URL is not there. */
export interface DecodedWebhook {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** Asset reference whose content is the body. */
  file: string | undefined;
  /** Undefined: the whole payload. */
  body: Fields | undefined;
}

export function decodeWebhooks(written: unknown): DecodedWebhook[] {
  return listOf(written).flatMap((hook) => {
    const url = textOf(hook.url);
    if (url === undefined) return [];
    const method = textOf(hook.method) ?? webhookDefaults.method;
    const body = isFields(hook.body) ? hook.body : undefined;
    return [{ url, method, headers: textMapOf(hook.headers), file: textOf(hook.file), body }];
  });
}
