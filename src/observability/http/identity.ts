import { readParam } from "../../base/http/request.ts";
import { bodyReader } from "../../base/wire/read-body.ts";
import { listIdentityAudit } from "../../identity/api/manage/audit.ts";
import { getIdentityInstance, updateIdentityInstance } from "../../identity/api/manage/instances.ts";
import { createIdentityKey, deleteIdentityKey, listIdentityKeys } from "../../identity/api/manage/keys.ts";
import { listIdentityProviders } from "../../identity/api/manage/providers.ts";
import { listIdentitySessions, revokeIdentitySession } from "../../identity/api/manage/sessions.ts";
import {
  banIdentityUser,
  createIdentityUser,
  deleteIdentityUser,
  listIdentityUsers,
  setIdentityPassword,
  unbanIdentityUser,
  verifyIdentityUser,
} from "../../identity/api/manage/users.ts";
import {
  banPlaneUser,
  createPlaneKey,
  createPlaneUser,
  deletePlaneKey,
  deletePlaneUser,
  endPlaneUserSessions,
  getPlaneInstance,
  listPlaneIdentityAudit,
  listPlaneInstances,
  listPlaneKeys,
  listPlaneProviders,
  listPlaneSessions,
  listPlaneSettings,
  listPlaneUsers,
  previewPlanePage,
  revokePlaneSession,
  setPlanePassword,
  unbanPlaneUser,
  updatePlaneInstance,
  verifyPlaneUser,
} from "../api/identity.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import { settingForms } from "../service/identity/setting-forms.ts";
import { mount, mountStream } from "../../base/http/mount.ts";
import type { PlaneCall } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

type Named = Pick<PlaneCall<PlaneEndpoint>, "params">;
const instanceOf = ({ params }: Named) => readParam(params, "instance");
const userOf = ({ params }: Named) => readParam(params, "user");

/** The identity service for owners of apps: its own management, asked in process with the token as the actor. */
export function mountIdentityRoom(plane: ObservabilityPlane): void {
  mountInstances(plane);
  mountKeys(plane);
  mountUsers(plane);
  mountSessionsAndAudit(plane);
}

function mountInstances(plane: ObservabilityPlane): void {
  const { identity } = plane.observability;
  const readChange = bodyReader(updateIdentityInstance);
  mount(plane, listPlaneInstances, ({ grant }) => identity.list(grant));
  mount(plane, listPlaneSettings, () => ({ settings: settingForms }));
  mount(plane, getPlaneInstance, (call) => {
    const instance = instanceOf(call);
    return identity.reader(call.grant, instance).call(getIdentityInstance, { params: { instance } });
  });
  mount(plane, updatePlaneInstance, (call) => {
    const instance = instanceOf(call);
    const body = readChange(call.body);
    return identity.giver(call.grant, instance).call(updateIdentityInstance, { params: { instance }, body });
  });
  mount(plane, listPlaneProviders, (call) => {
    const instance = instanceOf(call);
    return identity.reader(call.grant, instance).call(listIdentityProviders, { query: { instance } });
  });
  mountStream(plane, previewPlanePage, (call) => identity.preview(call.grant, instanceOf(call), call.query));
}

function mountKeys(plane: ObservabilityPlane): void {
  const { identity } = plane.observability;
  mount(plane, listPlaneKeys, (call) => {
    const instance = instanceOf(call);
    return identity.reader(call.grant, instance).call(listIdentityKeys, { params: { instance } });
  });
  mount(plane, createPlaneKey, {
    answer(call) {
      const instance = instanceOf(call);
      return identity.giver(call.grant, instance).call(createIdentityKey, { params: { instance } });
    },
    headers: () => ({ "Cache-Control": "no-store" }),
  });
  mount(plane, deletePlaneKey, (call) => {
    const params = { instance: instanceOf(call), key: readParam(call.params, "key") };
    return identity.giver(call.grant, params.instance).call(deleteIdentityKey, { params });
  });
}

function mountUsers(plane: ObservabilityPlane): void {
  const { identity } = plane.observability;
  const readUser = bodyReader(createIdentityUser);
  const readPassword = bodyReader(setIdentityPassword);
  const target = (call: Named) => ({ params: { user: userOf(call) }, query: { instance: instanceOf(call) } });
  mount(plane, listPlaneUsers, (call) => {
    const query = { ...call.query, instance: instanceOf(call) };
    return identity.reader(call.grant, query.instance).call(listIdentityUsers, { query });
  });
  mount(plane, createPlaneUser, (call) => {
    const instance = instanceOf(call);
    const body = readUser(call.body);
    return identity.giver(call.grant, instance).call(createIdentityUser, { query: { instance }, body });
  });
  // What only takes access away works for the instance of the operators too.
  mount(plane, banPlaneUser, (call) =>
    identity.reader(call.grant, instanceOf(call)).call(banIdentityUser, target(call)),
  );
  mount(plane, deletePlaneUser, (call) =>
    identity.reader(call.grant, instanceOf(call)).call(deleteIdentityUser, target(call)),
  );
  mount(plane, endPlaneUserSessions, (call) =>
    identity.endSessions(call.grant, { instance: instanceOf(call), user: userOf(call) }),
  );
  mount(plane, unbanPlaneUser, (call) =>
    identity.giver(call.grant, instanceOf(call)).call(unbanIdentityUser, target(call)),
  );
  mount(plane, verifyPlaneUser, (call) =>
    identity.giver(call.grant, instanceOf(call)).call(verifyIdentityUser, target(call)),
  );
  mount(plane, setPlanePassword, (call) => {
    const body = readPassword(call.body);
    return identity.giver(call.grant, instanceOf(call)).call(setIdentityPassword, { ...target(call), body });
  });
}

function mountSessionsAndAudit(plane: ObservabilityPlane): void {
  const { identity } = plane.observability;
  mount(plane, listPlaneSessions, (call) => {
    const query = { ...call.query, instance: instanceOf(call) };
    return identity.reader(call.grant, query.instance).call(listIdentitySessions, { query });
  });
  mount(plane, revokePlaneSession, (call) => {
    const query = { instance: instanceOf(call) };
    const params = { session: readParam(call.params, "session") };
    return identity.reader(call.grant, query.instance).call(revokeIdentitySession, { params, query });
  });
  mount(plane, listPlaneIdentityAudit, (call) => {
    const query = { ...call.query, instance: instanceOf(call) };
    return identity.reader(call.grant, query.instance).call(listIdentityAudit, { query });
  });
}
