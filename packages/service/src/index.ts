export { EXTENSIONS } from "./extensions.ts";
