import { mount, type Plane } from "../../base/http/mount.ts";
import { readParam } from "../../base/http/request.ts";
import { disablePeople, enablePeople, endPersonSessions, listPeople, removePerson, setPerson } from "../api/people.ts";
import type { ManagedPeople } from "../service/people/manage.ts";
import { noted } from "./tokens.ts";

export function mountPeople(plane: Plane, people: ManagedPeople): void {
  mount(plane, listPeople, () => people.list());
  mount(plane, enablePeople, ({ body, actor }) => people.enable(body, { actor }));
  mount(plane, disablePeople, ({ actor }) => people.disable({ actor }));
  mount(plane, setPerson, ({ params, body, actor }) => people.set(readParam(params, "person"), body, { actor }));
  mount(plane, removePerson, (call) => people.remove(readParam(call.params, "person"), noted(call)));
  mount(plane, endPersonSessions, (call) => people.endSessions(readParam(call.params, "person"), noted(call)));
}
