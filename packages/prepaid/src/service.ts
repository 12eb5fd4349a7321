// `@sotto/prepaid/service`: the mirror of merchants' signed keys, for services that payers trust to compare them.
export { MIRROR_ERRORS } from "./error-definitions.ts";
export { MirrorError } from "./service/errors.ts";
export { prepaidExtension } from "./service/extension.ts";
