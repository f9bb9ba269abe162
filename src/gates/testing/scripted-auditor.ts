import type { AuditReport, AuditTask, Auditor } from "../audit.ts";

/** An auditor that says what it is told to, and keeps what it was shown. */
export function scriptedAuditor(respond: (task: AuditTask) => AuditReport): Auditor & { readonly tasks: readonly AuditTask[] } {
  const tasks: AuditTask[] = [];
  return {
    tasks,
    audit: (task) => {
      tasks.push(task);
      return Promise.resolve(respond(task));
    },
  };
}
