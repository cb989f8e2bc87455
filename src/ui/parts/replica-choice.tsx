import type { Replica } from "../../observability/api/app-model.ts";

interface ReplicaChoiceProps {
  replicas: readonly Replica[];
  /** A replica's id, or the value of `also`. */
  chosen: string;
  /** One more choice: its value, and its text. */
  also?: readonly [string, string];
  onChoose: (id: string) => void;
}

/** Which replica is meant. One that is gone stays in the list, so that the choice says what it is. */
export function ReplicaChoice({ replicas, chosen, also, onChoose }: ReplicaChoiceProps) {
  const isThere = chosen === also?.[0] || replicas.some(({ replica_id: id }) => id === chosen);
  return (
    <label class="row flat">
      <span class="label">In</span>
      <select class="input" value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        {replicas.map(({ replica_id: id, state }) => (
          <option key={id} value={id}>
            {state === "ready" ? id : `${id} (${state})`}
          </option>
        ))}
        {isThere ? null : <option value={chosen}>{`${chosen} (gone)`}</option>}
        {also === undefined ? null : <option value={also[0]}>{also[1]}</option>}
      </select>
    </label>
  );
}
