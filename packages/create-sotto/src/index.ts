export { createProject, type NewProject } from "./create.ts";
export { CREATE_ERRORS } from "./error-definitions.ts";
export { CreateError } from "./errors.ts";
export { TEMPLATES, type Template } from "./templates.ts";
