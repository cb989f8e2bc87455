/** Files that are part of the executable as text: imported `with { type: "text" }`. */
declare module "*.sh" {
  const text: string;
  export = text;
}
declare module "*.yml" {
  const text: string;
  export = text;
}
