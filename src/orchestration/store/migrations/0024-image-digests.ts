/**
 * How an image is pulled again, for as long as anything may run on it: the pins are cut after a number of restarts, the
 * releases that name an image are not. And the images that inits name, which were not pinned before.
 */
export const imageDigests = /* sql */ `
create table image_digests (
  image_id text primary key,
  digest text not null
) strict;

insert or ignore into image_digests (image_id, digest)
select image_id, digest from image_pins where digest is not null order by id desc;

create table init_images (
  kind text not null,
  scope text not null,
  name text not null,
  hash text not null,
  ref text not null,
  image_id text not null,
  primary key (kind, scope, name, hash, ref)
) strict;
`;
