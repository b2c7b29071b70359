// Drives an engine the way Sabaki does and prints what came back as JSON: node sabaki.js COMMAND ARGUMENT...

const {Controller, ControllerStateTracker} = require('@sabaki/gtp')

const VARIATION = /(pass|[A-Za-z]\d+)(\s+(pass|[A-Za-z]\d+))*\s*$/i

// Sabaki's reading of an analysis line (its engine syncer, in our own words): everything before `pv` are pairs.
function parseInfo(line) {
  return line.split(/\s*info\s+/).slice(1).map(piece => {
    let match = piece.match(VARIATION)
    let words = match ? piece.slice(0, match.index).trim().split(/\s+/) : []
    words.pop()
    let values = {pv: match ? match[0].trim().split(/\s+/) : []}
    for (let i = 0; i + 1 < words.length; i += 2) values[words[i]] = words[i + 1]
    return values
  })
}

async function play(engine, limit) {
  let moves = []
  for (let i = 0; i < limit; i++) {
    let move = null
    await engine.sendCommand({name: 'kata-genmove_analyze', args: [i % 2 ? 'W' : 'B', '50']}, ({line}) => {
      if (line.startsWith('play ')) move = line.slice(5).trim().toLowerCase()
    })
    moves.push(move)
    if (move === 'resign' || (move === 'pass' && moves[i - 1] === 'pass')) break
  }
  return moves
}

async function analyze(engine, name) {
  let lines = []
  let analysis = null
  await new Promise(resolve => {
    analysis = engine.sendCommand({name, args: ['B', '1']}, ({line}) => {
      if (line.startsWith('info ')) lines.push(parseInfo(line))
      if (lines.length === 3) resolve()
    })
  })
  let begin = Date.now()
  await Promise.all([engine.sendCommand({name: 'protocol_version'}), analysis])
  return {lines, milliseconds: Date.now() - begin}
}

async function main() {
  let [path, ...args] = process.argv.slice(2)
  let engine = new Controller(path, args)
  let tracker = new ControllerStateTracker(engine)
  let result = {}
  engine.start()
  let names = ['name', 'version', 'protocol_version', 'list_commands']
  result.hello = (await Promise.all(names.map(name => engine.sendCommand({name})))).map(answer => answer.content)
  let history = [['B', 'C3'], ['W', 'D4'], ['B', 'B2'], ['W', 'pass'], ['B', 'E5']].map(move => ({name: 'play', args: move}))
  await tracker.sync({komi: 2.5, boardsize: [5, 5], history})
  result.moves = (await engine.sendCommand({name: 'printsgf'})).content
  await tracker.sync({komi: 2.5, boardsize: [5, 5], history: [...history.slice(0, 3), {name: 'play', args: ['W', 'A1']}]})
  result.afterUndo = (await engine.sendCommand({name: 'printsgf'})).content
  await tracker.sync({komi: 0.5, boardsize: [5, 5], history: [{name: 'set_free_handicap', args: ['B2', 'D4']}]})
  result.handicap = (await engine.sendCommand({name: 'printsgf'})).content
  result.analysis = {}
  for (let name of ['kata-analyze', 'lz-analyze', 'analyze']) result.analysis[name] = await analyze(engine, name)
  await tracker.sync({komi: 0.5, boardsize: [5, 5], history: []})
  result.game = await play(engine, 60)
  result.tracked = tracker.state.history.length
  result.illegal = await engine.sendCommand({name: 'play', args: ['B', 'Z9']})
  await engine.stop()
  console.log(JSON.stringify(result))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
