export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables whose empty value says something: this listener is off, this image is never used. */
const emptyIsOff = [
  "BERTH_ADDR",
  "BERTH_OBSERVABILITY_ADDR",
  "BERTH_IDENTITY_ADDR",
  "BERTH_INGRESS_HTTP_ADDR",
  "BERTH_INGRESS_HTTPS_ADDR",
  "BERTH_INGRESS_IMAGE",
];

/** The environment in which an empty variable counts as unset, as programs have it (`DOCKER_HOST=` of Docker's client). */
export function givenVariables(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== "" || emptyIsOff.includes(name)));
}
