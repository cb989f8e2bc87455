/** Environment that the operator gives a plugin. The origin is in the key: one of the same name is another plugin. */
export const pluginConfig = /* sql */ `
create table plugin_config (
  plugin text not null,
  origin text not null,
  source text not null,
  key text not null,
  value blob not null,
  updated_at integer not null,
  primary key (plugin, origin, source, key)
) strict, without rowid;
`;
