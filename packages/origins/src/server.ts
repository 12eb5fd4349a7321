// `@sotto/origins/server`: origins as an attachment of a paywall of @sotto/resource-server.
export { type OriginSetOptions, type OriginsOptions, origins, type ShownSet } from "./server/attachment.ts";
