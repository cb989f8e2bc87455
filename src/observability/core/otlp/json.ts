import { childPath } from "../../../base/pure/path.ts";
import { type Budget, OtlpError } from "./budget.ts";
import type { Field, Scalar, Shape } from "./shapes.ts";

type Fields = Record<string, unknown>;

/**
 * Reads a message that came as JSON, already parsed: the same object as `decodeProtobuf` makes. Names are those of
 * proto3 JSON, `timeUnixNano` and `time_unix_nano`; ids are hexadecimal; 64-bit numbers are texts or numbers.
 */
export function decodeJson(shape: Shape, value: unknown, budget: Budget): Fields {
  budget.item();
  return message(value, { shape, path: "" }, budget);
}

function message(value: unknown, { shape, path }: { shape: Shape; path: string }, budget: Budget): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(path, "an object", value);
  const given = value as Fields;
  return budget.deeper(() => {
    const fields: Fields = {};
    for (const field of Object.values(shape)) {
      const written = given[field.name] ?? given[snake(field.name)];
      if (written === undefined || written === null) continue;
      fields[field.name] = fieldValue(
        written,
        { field, path: path === "" ? field.name : childPath(path, field.name) },
        budget,
      );
    }
    return fields;
  });
}

function fieldValue(written: unknown, { field, path }: { field: Field; path: string }, budget: Budget): unknown {
  const { type } = field;
  const single = (value: unknown, at: string) => {
    if (typeof type !== "function") return scalar(value, type, at);
    budget.item(field.isEntry);
    return message(value, { shape: type(), path: at }, budget);
  };
  if (!field.repeated) return single(written, path);
  if (!Array.isArray(written)) throw wrong(path, "a list", written);
  return written.map((value, index) => {
    if (typeof type !== "function") budget.item();
    return single(value, `${path}[${index}]`);
  });
}

const hex = /^(?:[0-9a-fA-F]{2})*$/;

function scalar(value: unknown, of: Scalar, path: string): unknown {
  if (of === "string" || of === "bytes") {
    if (typeof value !== "string") throw wrong(path, "a text", value);
    return value;
  }
  if (of === "id") {
    if (typeof value !== "string" || !hex.test(value)) throw wrong(path, "hexadecimal text", value);
    return value.toLowerCase();
  }
  if (of === "bool") {
    if (typeof value !== "boolean") throw wrong(path, "true or false", value);
    return value;
  }
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || (Number.isNaN(number) && value !== "NaN")) throw wrong(path, "a number", value);
  if (of !== "double" && !Number.isFinite(number)) throw wrong(path, "a whole number", value);
  return of === "double" ? number : Math.trunc(number);
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const shownMax = 60;

function wrong(path: string, wanted: string, value: unknown): OtlpError {
  const text = JSON.stringify(value) ?? "undefined";
  return new OtlpError(`${path === "" ? "body" : path}: ${text.slice(0, shownMax)} is not ${wanted}`);
}
