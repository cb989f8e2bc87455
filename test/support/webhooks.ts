import type { SendWebhook } from "../../src/base/deliver/webhook.ts";

/** Every call arrives. */
export const deliverAll: SendWebhook = async () => ({ outcome: "delivered", result: "status 204" });
