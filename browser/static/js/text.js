// What the page says, in English and Japanese. {0}, {1} … are filled in by say().

const WORDS = {
  en: {
    language: "Language", theme: "Light or dark", newGame: "New game…", enginePlays: "Engine plays", white: "White",
    black: "Black", both: "both", nobody: "nobody", strength: "Thinks", level: "Level", levelFirst: "1, beginner", levelFull: "20, all it can", engineMove: "Engine, move", undo: "Undo",
    pass: "Pass", resign: "Resign", first: "To the start (Home)", previous: "Back (←)", next: "Forward (→)",
    last: "To the end (End)", analysis: "Analysis", hints: "Analyze", show: "Show", candidates: "moves",
    policy: "policy", nothing: "nothing", ownership: "territory", upTo: "up to", move: "Move", winrate: "Win",
    lead: "Lead", visits: "Visits", prior: "Prior", line: "Expected", review: "Analyze the game",
    reviewVisits: "Visits for each position", open: "Open…", save: "Save", link: "Link", playAt: "Play at",
    removeVariation: "Delete from here", keys: "Keys", size: "Board", handicap: "Handicap", komi: "Komi",
    runs: "Trainings", board: "Board", watched: "Runs that are watched", noRuns: "There is no run in the watched folders. Start web.py with --watch FOLDER, "
      + "a folder with model/ and archive/ in it.", gamesOf: "Generation {0}: {1} games", gamesOfWanted: "Generation {0}: {1} of {2} games",
    perHour: "{0} games an hour", left: "{0} left", quiet: "no new games", changed: "changed {0} ago", settings: "Settings", newestGames: "Newest games",
    train: "training", test: "test", policy_loss: "Policy loss (nats)", value_loss: "Value loss (nats)",
    policy_top1: "Policy, right first choices", value_top1: "Value, right results", move_top1: "Moves played that come first",
    lead_error: "Error of the lead (points)", game_length: "Length of the games (moves)", black_win_rate: "Black's win rate", elo: "Elo",
    hours: "{0} h {1} min", minutesLong: "{0} min", secondsLong: "{0} s", step: "step", generation: "generation", noRows: "nothing yet", nowIs: "now {0}",
    tooLong: "The file is too long: 2 MB at most can be read.", badLink: "There is no game in this link that can be read.",
    manyNodes: "The tree has {0} positions; it is drawn up to {1}. ↑ and ↓ go through the variations.",
    minutes: "Minutes for each side (0: no clock)", timeUp: "{0}'s time is up: {1} wins.",
    noGame: "Game {0} is not there any more, or cannot be read.",
    begin: "Begin", cancel: "Cancel", searchTree: "Search tree", visitsN: "Visits n", priorP: "Prior P",
    valueQ: "Value Q", bonusU: "Bonus U", start: "position", unknownBranch: "The search has not been here.",
    noPuct: "This search has no network: PUCT's numbers are not those that it compares.",
    branchSum: "{0} to move: N = {1} visits, c = {2}. The network alone says {3} %. Not yet visited moves count as {4}.",
    analyzeFirst: "Switch the analysis on to see its tree.", moreMoves: "and {0} more moves",
    treeText: "Each visit goes down the tree: at every position to the move with the greatest Q + U. Q is the mean win "
      + "rate of the visits a move has had (in italics: not visited yet, a guess a little below its position's). "
      + "U = c · P · √(N+1) / (1+n): high for moves that the network likes (P), and sinking with the move's own visits n, "
      + "so that a promising move that was looked at seldom gets its turn. c grows slowly with N. "
      + "At the end the most visited move is played. Click a move to go down.",
    keysText: "← → moves, ↑ ↓ variations, Home End, A analysis, T territory, P pass, U undo, G engine's move, N new "
      + "game, S save, O open. While the engine thinks, G makes it move at once. Or type a point, such as D4.",
    visitsEach: "{0} visits", secondsEach: "{0} s a move", visitsShort: "{0} visits", loading: "The engine is loading…",
    failed: "The engine cannot be used: {0}", closed: "The server does not answer; trying again…",
    toMove: "{0} to move.", thinking: "{0} (the engine) is thinking…", playedAt: "{0} {1}.", passed: "{0} passed.",
    resigned: "{0} resigned: {1} wins.", won: "{0} wins by {1}.", draw: "The game is a draw.",
    counting: "Both passed; counting…", prisoners: "Prisoners: Black {0}, White {1}.", komiIs: "Komi {0}.",
    stones: "Board {0} by {0}. Black: {1}. White: {2}.", none: "none", copied: "The link is on the clipboard.",
    linkIs: "Link: {0}", graph: "Black's win rate now {0} %.", noGraph: "No win rates yet.",
    leadOf: "{0} leads by {1}", even: "even",
    rateIs: "Black wins with {0} %.", rateAndLead: "Black wins with {0} %, {1}.", notSaved: "There is nothing to delete at the start.",
    pointsLost: "{0} {1} {2}: {3} points", rateLost: "{0} {1} {2}: {3} %", badPoint: "{0} is no point of this board.",
    passWord: "pass", reviewDone: "{0} of {1}", stop: "Stop", noMistakes: "No move lost much.", handicapNone: "none",
  },
  ja: {
    language: "言語", theme: "明るさ", newGame: "新しい対局…", enginePlays: "エンジン", white: "白", black: "黒", both: "両方",
    nobody: "打たない", strength: "考える量", level: "レベル", levelFirst: "1 (入門)", levelFull: "20 (全力)", engineMove: "エンジンが打つ", undo: "待った", pass: "パス", resign: "投了",
    first: "最初へ (Home)", previous: "戻る (←)", next: "進む (→)", last: "最後へ (End)", analysis: "検討",
    hints: "検討する", show: "表示", candidates: "候補手", policy: "方策", nothing: "なし", ownership: "地合い", upTo: "上限",
    move: "手", winrate: "勝率", lead: "目差", visits: "探索", prior: "方策", line: "読み筋", review: "棋譜全体を検討",
    reviewVisits: "一局面の探索回数", open: "開く…", save: "保存", link: "リンク", playAt: "打つ点",
    removeVariation: "ここから削除", keys: "キー操作", size: "碁盤", handicap: "置石", komi: "コミ", begin: "始める",
    runs: "学習", board: "碁盤", watched: "見ている学習", noRuns: "見ているフォルダに学習がありません。model/ と archive/ のあるフォルダを web.py --watch FOLDER で指定してください。",
    gamesOf: "第{0}世代: {1} 局", gamesOfWanted: "第{0}世代: {2} 局のうち {1} 局", perHour: "毎時 {0} 局", left: "残り {0}", quiet: "新しい対局なし",
    changed: "{0}前に更新", settings: "設定", newestGames: "最新の対局", train: "学習", test: "テスト", policy_loss: "方策の損失 (nat)",
    value_loss: "価値の損失 (nat)", policy_top1: "方策の第一候補が正しい割合", value_top1: "勝敗が正しい割合", move_top1: "実際の手が第一候補の割合",
    lead_error: "目差の誤差 (目)", game_length: "対局の手数", black_win_rate: "黒の勝率", elo: "Elo", hours: "{0}時間{1}分", minutesLong: "{0}分", secondsLong: "{0}秒", step: "ステップ", generation: "世代", noRows: "まだ記録なし", nowIs: "現在 {0}",
    tooLong: "ファイルが大きすぎます。2 MB まで読めます。", badLink: "このリンクから棋譜を読めません。",
    noGame: "{0} 番の棋譜はもうないか、読めません。",
    manyNodes: "局面が {0} あります。図は {1} までです。↑ と ↓ で変化をたどれます。", minutes: "持ち時間 (分、0は無制限)", timeUp: "{0}の時間切れで、{1}の勝ちです。", cancel: "やめる", searchTree: "探索木", visitsN: "探索 n", priorP: "方策 P", valueQ: "価値 Q", bonusU: "ボーナス U",
    start: "局面", unknownBranch: "ここはまだ探索されていません。",
    noPuct: "この探索はネットワークを使わないため、PUCTの値では選んでいません。",
    branchSum: "{0}の番。N = {1} 回、c = {2}。ネットワークだけの勝率は {3} %。未探索の手は {4} とみなします。",
    analyzeFirst: "検討を始めると探索木が表示されます。", moreMoves: "ほか {0} 手",
    treeText: "探索は一回ごとに木を下ります。どの局面でも Q + U が最大の手を選びます。Q はその手を探索した結果の平均勝率です"
      + "(斜体は未探索で、局面の値より少し低い推定値)。U = c · P · √(N+1) / (1+n) は、ネットワークが好む手(P)ほど大きく、"
      + "その手の探索回数 n が増えると小さくなります。有望なのにあまり見ていない手にも番が回るためです。c は N とともに"
      + "ゆっくり大きくなります。最後に、最も多く探索された手を打ちます。手をクリックすると先へ進みます。",
    keysText: "← → 手を進める、↑ ↓ 変化、Home End、A 検討、T 地合い、P パス、U 待った、G エンジンが打つ、N 新しい対局、S 保存、"
      + "O 開く。考慮中に G を押すと、すぐに打ちます。D4 のように点を入力しても打てます。",
    visitsEach: "{0} 回", secondsEach: "一手 {0} 秒", visitsShort: "{0} 回", loading: "エンジンを読み込んでいます…",
    failed: "エンジンを使えません: {0}", closed: "サーバーが応答しません。再接続しています…", toMove: "{0}の番です。",
    thinking: "{0}(エンジン)が考えています…", playedAt: "{0} {1}。", passed: "{0}がパスしました。",
    resigned: "{0}が投了し、{1}の勝ちです。", won: "{0}の {1} 目勝ちです。", draw: "持碁です。",
    counting: "終局です。数えています…", prisoners: "アゲハマ 黒 {0}、白 {1}。", komiIs: "コミ {0}。",
    stones: "{0}路盤。黒: {1}。白: {2}。", none: "なし", copied: "リンクをコピーしました。", linkIs: "リンク: {0}",
    graph: "黒の勝率 {0} %。", noGraph: "勝率はまだありません。", leadOf: "{0} {1} 目リード", even: "互角",
    rateIs: "黒の勝率 {0} %。", rateAndLead: "黒の勝率 {0} %、{1}。",
    notSaved: "最初の局面は削除できません。", pointsLost: "{0} {1} {2}: {3} 目", rateLost: "{0} {1} {2}: {3} %",
    badPoint: "{0} はこの碁盤の点ではありません。", passWord: "パス", reviewDone: "{0} / {1}", stop: "中止",
    noMistakes: "大きな失着はありません。", handicapNone: "なし",
    // What the server says, by its English.
    "the file has several games; this is the first": "棋譜が二局以上あります。最初の一局を開きました。",
    "{0} cannot be played: there is a stone": "{0} には打てません。石があります。",
    "{0} cannot be played: the ko cannot be retaken at once": "{0} には打てません。コはすぐに取り返せません。",
    "{0} cannot be played: it repeats an earlier position": "{0} には打てません。前と同じ局面になります。",
    "{0} cannot be played: the stones would have no liberty": "{0} には打てません。着手禁止点です。",
    "it is the engine's turn: wait for its move, or let nobody be its side": "エンジンの番です。打つのを待つか、エンジンを「打たない」にしてください。",
    "there is no move of yours to take back": "待ったできる手がありません。", "there is no move to take back": "待ったできる手がありません。",
    "moves are taken back at the end of a line: go there, or delete from here": "待ったは最後の局面でします。最後へ進むか、「ここから削除」を使ってください。",
    "the game is over": "対局は終わっています。", "one resigns at the end of a line: go there first": "投了は最後の局面でします。最後へ進んでください。",
    "that position is gone": "その局面はもうありません。", "that position cannot be taken out": "その局面は削除できません。",
    "this game cannot be read: {0}": "この棋譜は読めません: {0}", "this variation cannot be shown: {0}": "この変化は表示できません: {0}",
    "the record has {0} bytes, {1} at most can be read": "棋譜が {0} バイトあります。{1} バイトまで読めます。",
    "the game has {0} nodes, more cannot be kept": "局面が {0} あり、これ以上は増やせません。",
    "this model plays {0}, not {1}x{1}: start with another one (--model)": "このモデルは {0} 路盤用です。{1}路盤には別のモデルを --model で指定してください。",
    "this model plays {0} to {1}, not {2}x{2}: start with another one (--model)": "このモデルは {0} から {1} 路盤用です。{2}路盤には別のモデルを --model で指定してください。",
    "komi {0} is more than the board has points": "コミ {0} は碁盤の点の数より大きいです。",
    "handicap {0} is not 0 or 2 to {1}": "置石は 0、または 2 から {1} です ({0} は不可)。", "{0} is no point of this board": "{0} はこの碁盤の点ではありません。",
  },
};

let language = localStorage.getItem("language") ?? (navigator.language.startsWith("ja") ? "ja" : "en");

export const currentLanguage = () => language;

export function say(key, ...values) {
  const text = WORDS[language][key] ?? WORDS.en[key] ?? key;
  return text.replace(/\{(\d)\}/g, (place, index) => values[index] ?? place);
}

export function setLanguage(name) {
  language = name in WORDS ? name : "en";
  localStorage.setItem("language", language);
  translate();
}

export function translate() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = say(element.dataset.text);
  for (const element of document.querySelectorAll("[data-title]")) {
    element.title = say(element.dataset.title);
    element.setAttribute("aria-label", element.title);
  }
}
