/**
 * The rule for each import of the interpreter once the gate is locked. What is not named here throws: a new import of a
 * later Pyodide is denied until somebody has looked at it.
 */

/** Pure calculations on guest memory: left as they are. */
export const passedImports: ReadonlySet<string> = new Set([
  "_PyEM_TrampolineCall_JS",
  "_tzset_js",
  "_timegm_js",
  "_mktime_js",
  "_localtime_js",
  "_gmtime_js",
]);

/** Ways to end the process: the call ends with failure `exit`. */
export const exitImports: ReadonlySet<string> = new Set(["exit", "proc_exit", "_abort_js", "__assert_fail"]);

/**
 * What the interpreter and library code ask in passing (a syntax error opens the source file): refused with EPERM, and
 * not held against the program unless the refusal reaches its surface.
 */
const harmlessSyscalls: ReadonlySet<string> = new Set([
  "__syscall_openat",
  "__syscall_stat64",
  "__syscall_lstat64",
  "__syscall_fstat64",
  "__syscall_newfstatat",
  "__syscall_getcwd",
  "__syscall_faccessat",
  "__syscall_readlinkat",
  "__syscall_fcntl64",
  "__syscall_ioctl",
  "__syscall_getuid32_js",
  "__syscall_umask_js",
  "_try_fcntl64",
  "fd_close",
  "fd_fdstat_get",
  "fd_seek",
  "fd_read",
  "fd_sync",
]);

/** Refused with an error code, so that Python sees PermissionError; using one fails the call with `denied`. */
function isRefused(name: string): boolean {
  return name.startsWith("__syscall_") || name.startsWith("fd_") || name.startsWith("_maybe_") || name.startsWith("_try_") || alsoRefused.has(name);
}

const alsoRefused: ReadonlySet<string> = new Set(["_mmap_js", "_munmap_js", "_msync_js", "_emscripten_system", "_setitimer_js", "getaddrinfo", "getnameinfo"]);

const permissionErrno = 63;

export type ImportRule = { readonly kind: "pass" | "exit" | "throw" } | { readonly kind: "refuse"; readonly value: number; readonly held: boolean };

/** The rule of one import after the lock; imports that the gate implements itself are not asked for here. */
export function importRule(name: string): ImportRule {
  if (passedImports.has(name)) return { kind: "pass" };
  if (exitImports.has(name)) return { kind: "exit" };
  if (!isRefused(name)) return { kind: "throw" };
  // System calls return negative codes, WASI functions (fd_*) positive ones.
  const value = name.startsWith("fd_") ? permissionErrno : -permissionErrno;
  return { kind: "refuse", value, held: !harmlessSyscalls.has(name) };
}
