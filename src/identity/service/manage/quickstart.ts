import { Failure } from "../../../base/wire/failure.ts";
import { bodyReader } from "../../../base/wire/read-body.ts";
import { identityQuickstart, type Quickstart } from "../../api/manage/instances.ts";
import { isLoopbackHost } from "../../core/urls.ts";
import { addInstance, wireInstance } from "../instances.ts";
import { addApp } from "./apps.ts";
import type { By, ManageContext } from "./context.ts";

const readBody = bodyReader(identityQuickstart);

/** App, instance and keys in one transaction. Fails `conflict` while nothing answers at the addresses that its texts name. */
export function createQuickstart(context: ManageContext): (body: unknown, by: By) => Promise<Quickstart> {
  return async (body, { actor }) => {
    const { redirect_uris: redirectUris, app: name, title, environment, host } = readBody(body);
    if (!context.isServed) {
      const hint = "start the server with --identity-addr 127.0.0.1:8688 (BERTH_IDENTITY_ADDR)";
      throw new Failure("conflict", `the identity service is turned off: ${hint}`);
    }
    return context.store.write((nouns) => {
      const app = addApp(context, nouns, { name, actor });
      const { instance, secretKey } = addInstance(context, nouns, {
        app,
        name: undefined,
        environment: environment ?? (redirectUris.every(isLocal) ? "development" : "production"),
        host,
        change: { redirect_uris: redirectUris, ...(title === undefined ? {} : { title }) },
        actor,
      });
      const { sign_in_url } = wireInstance(context, nouns, instance);
      return {
        app_id: app.id,
        instance_id: instance.id,
        secret_key: secretKey,
        publishable_key: instance.publishableKey,
        sign_in_url: `${sign_in_url}?redirect_uri=${encodeURIComponent(redirectUris[0] ?? "")}`,
        verify_url: `${context.baseUrl}/api/v1/tokens/verify`,
      };
    });
  };
}

function isLocal(uri: string): boolean {
  return URL.canParse(uri) && isLoopbackHost(new URL(uri).hostname);
}
