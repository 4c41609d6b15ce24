// Signalbox for OpenCode: tells an agent of its mail. Written by `signalbox hook install`; `signalbox hook uninstall` removes it.
// Each event of a session is handed to the command below, which answers {"text", "agent", "watch"} or nothing.
import { spawn } from "node:child_process"
import { watch } from "node:fs"
import { basename, dirname } from "node:path"

const COMMAND = ["signalbox", "hook", "run", "opencode"] // signalbox: command
const GATES = false // signalbox: gate

const PATIENCE_MS = 3000 // the command ends by itself within 2 s
const GATE_MS = 600000 // but before a tool it waits while the user holds the agent
const SETTLE_MS = 200 // several writes at once are one change
const PARENT_BEAT_MS = 30000
const LONGEST_ANSWER = 200000

const loaded = (globalThis[Symbol.for("signalbox.directories")] ??= new Set())

// Run the command; resolves to its answer, or to {} whatever goes wrong.
function ask(given, patience = PATIENCE_MS) {
  return new Promise((resolve) => {
    let child
    let out = ""
    const done = (answer) => {
      clearTimeout(late)
      resolve(answer)
    }
    const late = setTimeout(() => {
      child?.kill("SIGKILL")
      done({})
    }, patience)
    late.unref?.()
    try {
      child = spawn(COMMAND[0], COMMAND.slice(1), { cwd: given.cwd, stdio: ["pipe", "pipe", "ignore"] })
      child.on("error", () => done({}))
      child.stdin.on("error", () => {})
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (more) => {
        out += out.length < LONGEST_ANSWER ? more : ""
      })
      child.on("close", () => {
        try {
          const answer = JSON.parse(out)
          done(answer !== null && typeof answer === "object" ? answer : {})
        } catch {
          done({})
        }
      })
      child.stdin.end(JSON.stringify(given))
    } catch {
      done({})
    }
  })
}

// A hook that fails must not disturb OpenCode.
const safely = (hook) => async (input, output) => {
  try {
    await hook(input, output)
  } catch {}
}

export const Signalbox = async ({ client, directory }) => {
  if (loaded.has(directory)) return {} // installed for the user and in the project: once is enough
  loaded.add(directory)
  const endsWhenIdle = process.argv.includes("run") // `opencode run` is gone before a new prompt could be answered
  const sessions = new Map() // id: what is known of a session, by the promise of its start
  const watchers = new Map() // folder: its watcher and the names that count
  let settling

  const isDefault = (title) => /^(New|Child) session - /.test(title ?? "")

  async function look(id, info) {
    info ??= (await client.session.get({ path: { id } }))?.data ?? {}
    const session = { id, cwd: info.directory ?? directory, title: info.title ?? "", root: "", pending: [], prompts: [], sent: new Set(), beat: 0, last: Promise.resolve() }
    let parent = info.parentID
    for (let depth = 0; parent && depth < 20; depth++) {
      session.root = parent
      parent = (await client.session.get({ path: { id: parent } }))?.data?.parentID
    }
    return session
  }

  // What is known of a session; its start is told when it is first heard of, whichever event that is.
  function known(id, info) {
    if (!sessions.has(id)) {
      const starting = look(id, info).then(async (session) => {
        if (!session.root) hold(session, await tell(session, "session.created", { source: info ? "startup" : "resume" }))
        return session
      })
      starting.catch(() => sessions.delete(id))
      sessions.set(id, starting)
    }
    return sessions.get(id)
  }

  // Tell the command one thing after the other: an end must not overtake what came before it.
  function tell(session, name, more) {
    const told = session.last.then(() => say(session, name, more))
    session.last = told.catch(() => "")
    return told
  }

  async function say(session, name, more = {}) {
    if (session.over) return ""
    session.over = name === "session.deleted"
    const title = isDefault(session.title) ? "" : session.title
    const given = { hook_event_name: name, session_id: session.id, cwd: session.cwd, takes_prompts: true, ...(title && { title }), ...more }
    if (session.root) given.parent_id = session.root
    const answer = await ask(given)
    if (typeof answer.agent === "string") session.agent = answer.agent
    if (Array.isArray(answer.watch)) answer.watch.forEach(attend)
    if (Array.isArray(answer.prompts)) session.prompts.push(...answer.prompts)
    return typeof answer.text === "string" ? answer.text : ""
  }

  // Keep a text until an event comes that has a place for it.
  function hold(session, text) {
    if (text) session.pending.push(text)
  }

  function said(session, text) {
    const all = [...session.pending.splice(0), text].filter(Boolean)
    return all.join("\n")
  }

  // A subagent gets nothing: that it works is a sign of its parent's life, no more.
  async function beat(session, name) {
    const now = Date.now()
    if (now - session.beat < PARENT_BEAT_MS) return
    session.beat = now
    await tell(session, name)
  }

  // Give the session a prompt of ours, or of its user's, with the agent and the model that it works with: without them OpenCode takes its defaults.
  async function prompt(session, text, { synthetic } = { synthetic: true }) {
    if (!text) return
    session.sent.add(text)
    const parts = [{ type: "text", text, ...(synthetic && { synthetic }) }]
    await client.session.promptAsync({ path: { id: session.id }, body: { ...session.choice, parts } })
  }

  function attend(path) {
    if (typeof path !== "string") return
    const folder = dirname(path)
    if (watchers.has(folder)) return void watchers.get(folder).names.add(basename(path))
    try {
      const names = new Set([basename(path)])
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name !== null && !names.has(name)) return
        clearTimeout(settling)
        settling = setTimeout(() => changed().catch(() => {}), SETTLE_MS)
        settling.unref?.()
      })
      watcher.on("error", () => watchers.delete(folder))
      watchers.set(folder, { watcher, names })
    } catch {}
  }

  async function changed() {
    for (const starting of [...sessions.values()]) {
      const session = await starting
      if (session.root) continue
      await prompt(session, await tell(session, "file.changed"))
      for (const text of session.prompts.splice(0)) await prompt(session, text, { synthetic: false })
    }
  }

  async function ended(session) {
    if (!session.root) await tell(session, "session.deleted")
  }

  // Ask before a tool runs; only what is thrown keeps it from running.
  async function before(input, output) {
    const session = await known(input.sessionID).catch(() => undefined)
    if (!session || session.over) return
    const parent = session.root && { parent_id: session.root }
    const call = { tool_name: input.tool, tool_input: output?.args ?? {} }
    const given = { hook_event_name: "tool.execute.before", session_id: session.id, cwd: session.cwd, ...parent, ...call }
    const answer = await ask(given, GATE_MS)
    if (typeof answer.refuse !== "string") return
    if (answer.stop) await client.session.abort({ path: { id: session.root || session.id } }).catch(() => {})
    throw new Error(answer.refuse)
  }

  // Have a permission answered from elsewhere; the command ends by itself once it is answered here.
  async function request(session, { id, sessionID, permission, metadata }) {
    const given = { hook_event_name: "permission.requested", session_id: session.id, cwd: session.cwd, permission, metadata }
    const { reply, message, end } = await ask(session.root ? { ...given, parent_id: session.root } : given, GATE_MS)
    if (!reply) return
    if (end) await client.session.abort({ path: { id: session.root || sessionID } }).catch(() => {})
    const body = { reply, ...(message && { message }) }
    const headers = { "Content-Type": "application/json" }
    const done = await client._client?.post({ url: "/permission/{requestID}/reply", path: { requestID: id }, body, headers })
    if (done?.data) return
    await client.postSessionIdPermissionsPermissionId({ path: { id: sessionID, permissionID: id }, body: { response: reply } })
  }

  const events = {
    async "session.created"({ info, sessionID }) {
      await known(info?.id ?? sessionID, info)
    },
    async "session.updated"({ info }) {
      const session = info && sessions.has(info.id) && (await sessions.get(info.id))
      if (session) session.title = info.title ?? session.title
    },
    async "session.error"({ sessionID, error }) {
      const session = sessions.has(sessionID) && (await sessions.get(sessionID))
      if (session && error?.name === "MessageAbortedError") session.stopped = true
    },
    async "session.idle"({ sessionID }) {
      const session = await known(sessionID)
      if (session.root) return
      const canAnswer = !session.stopped && !endsWhenIdle // who pressed Escape, or refused, wants no new turn
      await prompt(session, await tell(session, canAnswer ? "session.idle" : "session.interrupted"))
    },
    async "session.compacted"({ sessionID }) {
      const session = await known(sessionID)
      if (!session.root) hold(session, await tell(session, "session.created", { source: "compact" }))
    },
    async "session.deleted"({ info, sessionID }) {
      const id = info?.id ?? sessionID
      const starting = sessions.get(id)
      sessions.delete(id)
      if (starting) await ended(await starting)
    },
    async "permission.asked"(asked) {
      const session = await known(asked.sessionID)
      await tell(session, "permission.asked")
      if (GATES && asked.permission) request(session, asked).catch(() => {}) // it may take minutes
    },
    async "permission.replied"({ sessionID, reply }) {
      const session = await known(sessionID)
      if (reply === "reject") session.stopped = true
      await tell(session, "permission.replied")
    },
  }
  events["question.asked"] = events["permission.asked"]
  events["question.replied"] = events["question.rejected"] = events["permission.replied"]

  return {
    event: safely(async ({ event }) => {
      await events[event.type]?.(event.properties ?? {})
    }),
    "chat.message": safely(async (input, output) => {
      const session = await known(input.sessionID)
      if (session.root) return beat(session, "chat.message")
      const { agent, model, variant } = { ...input, ...output.message }
      session.choice = { ...(agent && { agent }), ...(model && { model }), ...(variant && { variant }) }
      session.stopped = false
      const ours = output.parts.find((part) => session.sent.delete(part.text))
      const name = ours ? "session.prompted" : "chat.message"
      const told = await tell(session, name, ours && !ours.synthetic ? { prompt: ours.text } : {})
      const text = said(session, ours ? "" : told)
      const first = output.parts[0]
      if (!text || !first) return
      const id = `${first.id.slice(0, -4)}zzzz` // parts are ordered by id: after the person's own
      output.parts.push({ id, sessionID: input.sessionID, messageID: first.messageID, type: "text", text, synthetic: true })
    }),
    ...(GATES && { "tool.execute.before": before }),
    "tool.execute.after": safely(async (input, output) => {
      const session = await known(input.sessionID)
      if (session.root) return beat(session, "tool.execute.after")
      const text = said(session, await tell(session, "tool.execute.after"))
      if (text && typeof output?.output === "string") output.output += `\n${text}`
      else hold(session, text)
    }),
    "shell.env": safely(async (input, output) => {
      const session = input.sessionID && (await known(input.sessionID))
      if (session?.agent && !session.root) output.env.SIGNALBOX_AGENT = session.agent
    }),
    dispose: safely(async () => {
      loaded.delete(directory)
      clearTimeout(settling)
      for (const { watcher } of watchers.values()) watcher.close()
      const all = await Promise.all([...sessions.values()].map((starting) => starting.catch(() => undefined)))
      await Promise.all(all.filter(Boolean).map(ended))
    }),
  }
}
