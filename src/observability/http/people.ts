import { mount, type Plane } from "../../base/http/mount.ts";
import { readParam } from "../../base/http/request.ts";
import {
  disablePeople,
  enablePeople,
  endPersonSessions,
  endPlaneSessions,
  listPeople,
  listPlanePeople,
  removePerson,
  removePlanePerson,
  setPerson,
} from "../api/people.ts";
import type { ManagedPeople } from "../service/people/manage.ts";
import { mountPlane } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** There is no way to give a role with a token: one that leaks cannot outlive its end as a person. */
export function mountPeople(plane: ObservabilityPlane): void {
  const { people } = plane.observability;
  mountPlane(plane, listPlanePeople, () => people.list());
  mountPlane(plane, removePlanePerson, ({ params }) => people.remove(readParam(params, "person")));
  mountPlane(plane, endPlaneSessions, ({ params }) => people.endSessions(readParam(params, "person")));
}

/** On the orchestration plane, for the operator. */
export function mountOperatorPeople(plane: Plane, people: ManagedPeople): void {
  mount(plane, listPeople, () => people.list());
  mount(plane, enablePeople, ({ body, actor }) => people.enable(body, { actor }));
  mount(plane, disablePeople, ({ actor }) => people.disable({ actor }));
  mount(plane, setPerson, ({ params, body, actor }) => people.set(readParam(params, "person"), body, { actor }));
  mount(plane, removePerson, ({ params, actor }) => people.remove(readParam(params, "person"), { actor }));
  mount(plane, endPersonSessions, ({ params, actor }) => people.endSessions(readParam(params, "person"), { actor }));
}
