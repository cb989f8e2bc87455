import { ApiError, type Client } from "../../../base/wire/client.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { createIdentityApp, listIdentityApps } from "../../../identity/api/manage/apps.ts";
import {
  createIdentityInstance,
  getIdentityInstance,
  listIdentityInstances,
  updateIdentityInstance,
} from "../../../identity/api/manage/instances.ts";
import { type PeopleSignIn, signedInPath } from "../../api/people.ts";
import { webUiOrigin } from "../../core/people/places.ts";
import type { ObservabilityContext } from "../context.ts";

/** The instance that is made where the operator names none; only its owner sees these names. */
const appName = "web-ui";
const instanceName = "operators";
/** The identity service takes any port for a listed 127.0.0.1: tunnels and `berth ui` have other ones. */
const local = "http://127.0.0.1:8687";

interface Wish {
  instance?: string | undefined;
  urls?: readonly string[] | undefined;
}

/**
 * An instance that people can sign in through: made, or checked and given the addresses of the web UI. Fails `invalid`,
 * `not_found`, and `conflict` where the instance would send tokens in addresses, or where no browser reaches its pages.
 */
export async function prepareInstance(
  context: ObservabilityContext,
  { instance: wanted, urls = [] }: Wish,
  actor: string,
): Promise<PeopleSignIn & { made: boolean }> {
  const { platform, people, prefix, store } = context;
  if (!people.isServed) {
    throw new Failure(
      "conflict",
      "the identity service is turned off: start the server with --identity-addr 127.0.0.1:8688",
    );
  }
  const redirects = [...new Set([...urls.map(originOf), local])].map((origin) => `${origin}${signedInPath}`);
  const client = platform.as(actor);
  const known = wanted ?? store.people.instance() ?? (await ownInstance(client));
  if (known === undefined) {
    const app = await ownApp(client);
    const settings = { redirect_uris: redirects, delivery: "code", email_signup: false, title: prefix };
    const { id } = await client.call(createIdentityInstance, { body: { app, name: instanceName, settings } });
    return { ...(await describe(client, id)), made: true };
  }
  const { effective } = await getInstance(client, known);
  if (effective.delivery !== "code") {
    throw new Failure(
      "conflict",
      `instance ${known} sends tokens in addresses: use an instance of its own (leave the instance out), or berth identity instance set ${known} delivery=code`,
    );
  }
  if (effective.redirect_query === "exact") {
    throw new Failure(
      "conflict",
      `instance ${known} allows no state: berth identity instance set ${known} redirect_query=known`,
    );
  }
  const listed = effective.redirect_uris ?? [];
  const missing = redirects.filter((uri) => !listed.includes(uri));
  if (missing.length > 0) {
    const settings = { redirect_uris: [...listed, ...missing] };
    await client.call(updateIdentityInstance, { params: { instance: known }, body: { settings } });
  }
  return { ...(await describe(client, known)), made: false };
}

/** The instance that people sign in through now; undefined where that is turned off, or the instance is gone. */
export async function readSignIn({ store, platform }: ObservabilityContext): Promise<PeopleSignIn | undefined> {
  const id = store.people.instance();
  if (id === undefined) return undefined;
  try {
    return await describe(platform.as("observability"), id);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

async function describe(client: Client, id: string): Promise<PeopleSignIn> {
  const found = await client.call(getIdentityInstance, { params: { instance: id } });
  const { sign_in_url, effective, app } = found;
  const addresses = (effective.redirect_uris ?? []).flatMap((uri) =>
    uri.endsWith(signedInPath) ? [uri.slice(0, -signedInPath.length)] : [],
  );
  return { instance: found.id, title: effective.title || app, sign_in_url, addresses };
}

/** The operator named it: what is wrong with the name is an answer to the operator. */
async function getInstance(client: Client, instance: string) {
  try {
    return await client.call(getIdentityInstance, { params: { instance } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw new Failure("not_found", error.message);
    throw error;
  }
}

/** Made by an earlier `enable` that was turned off again. */
async function ownInstance(client: Client): Promise<string | undefined> {
  const { instances } = await client.call(listIdentityInstances);
  return instances.find(({ app, name }) => app === appName && name === instanceName)?.id;
}

async function ownApp(client: Client): Promise<string> {
  const { apps } = await client.call(listIdentityApps);
  const known = apps.find(({ name }) => name === appName);
  return known?.id ?? (await client.call(createIdentityApp, { body: { name: appName } })).id;
}

function originOf(text: string): string {
  const origin = webUiOrigin(text);
  if (origin !== undefined) return origin;
  throw new Failure(
    "invalid",
    `${JSON.stringify(text.slice(0, 200))} is not an address of the web UI: write https://berth.example.com, or http for this machine alone`,
  );
}
