import { type DeclarationReflection, type ProjectReflection, ReferenceReflection, ReflectionKind } from "typedoc";

/** Whether an export, or one of its signatures, has a docstring with a summary. */
const isDocumented = ({ comment, signatures = [] }: DeclarationReflection): boolean =>
  [comment, ...signatures.map((signature) => signature.comment)].some((found) => (found?.summary ?? []).length > 0);

/**
 * The exports without a docstring, as `MODULE: NAME`. If several modules share an export, it is listed under the
 * module in which TypeDoc documents it.
 */
export function undocumented(project: ProjectReflection): string[] {
  const modules = project.getChildrenByKind(ReflectionKind.Module | ReflectionKind.Namespace);
  return modules.flatMap((module) => exportsOf(module, module.name));
}

function exportsOf(parent: DeclarationReflection, path: string): string[] {
  return (parent.children ?? []).flatMap((child) => {
    if (child instanceof ReferenceReflection) return [];
    const own = isDocumented(child) ? [] : [`${path}: ${child.name}`];
    return child.kind === ReflectionKind.Namespace ? [...own, ...exportsOf(child, `${path}: ${child.name}`)] : own;
  });
}
