/**
 * Passwords that guessers try first, in the spelling of `isCommonPassword`: lower case, look-alikes as letters. Longer
 * forms with digits and signs at the end are covered by what they begin with.
 */
const words = `
password passwort passwords passw0rd pass word motdepasse contrasena senha parola wachtwoord heslo haslo salasana
qwerty qwertz azerty qwertyui qwertyuiop qwertzuiop azertyuiop asdfgh asdfghjk asdfghjkl zxcvbn zxcvbnm yxcvbnm
qazwsx qazwsxedc wsxedc zaqwsx zaqxsw qweasd qweasdzxc qwaszx asdzxc poiuytrewq lkjhgfdsa mnbvcxz qweqwe asdasd zxczxc
qweqweqwe asdasdasd poiuyt asdfasdf qwerqwer zxcvzxcv qwertyqwerty asdfqwer abcabc abcabcabc abcdabcd
letmein letmeinnow letmeinplease openup opensesame sesame welcome welcometo welcomeback willkommen bienvenue bienvenido
benvenuto admin administrator adminadmin administrador root rootroot toor system manager master supervisor operator
superuser superadmin sysadmin webmaster guest default changeme changemenow changeit change secret secrets topsecret
mysecret private confidential security secure login logon signin access internet computer server network database
iloveyou iloveu ilovegod ilovejesus ilovemom ilovedad ilovehim ilovemyself iloveme iloveyousomuch loveyou loveme
lovelove lovely loveforever teamo tequiero jetaime ichliebedich tiamo princess prinzessin princesa princesse
sunshine sonnenschein rainbow butterfly flower flowers blossom chocolate cookie cookies cheese banana strawberry
orange apple cherry peanut pumpkin chicken sweetie sweetheart sweety honey sugar babygirl babyboy baby angel angels
angelica beautiful pretty cutie darling daddy mommy family friends friend forever together happiness happy smile
monkey dragon dragonfly tiger tigers lion eagle eagles falcon panther wolf wolves bear shark dolphin dolphins horse
horses kitten kitty doggie puppy rabbit bunny turtle spider scorpion phoenix unicorn dinosaur elephant
football footballs soccer baseball basketball volleyball hockey tennis golfer swimming cricket rugby boxing wrestling
liverpool chelsea arsenal manchester manutd barcelona realmadrid juventus bayern dortmund schalke hertha werder
yankees lakers cowboys steelers packers patriots redsox celtics
superman batman spiderman ironman wonderwoman starwars startrek skywalker darthvader gandalf matrix terminator
pokemon pikachu naruto mario nintendo playstation minecraft fortnite xbox gamer gaming counterstrike warcraft
michael jennifer jessica michelle jordan charlie thomas daniel andrew joshua matthew anthony robert william nicole
ashley amanda samantha andrea stephanie elizabeth alexander alexandra christian christopher christina benjamin
jonathan nicholas natasha nathalie veronica victoria isabella sebastian dominik patrick richard maria marina martin
mercedes ferrari porsche corvette mustang camaro harley yamaha honda toyota
summer sommer winter spring autumn herbst january february september october november december monday sunday
hunter killer ranger soldier warrior fighter pirate ninja samurai cowboy rockstar guitar music metallica nirvana
slipknot eminem beatles rocknroll blink
whatever trustno trustnoone nothing something anything nobody somebody everybody blessed heaven jesus jesuschrist
godisgood godbless lucky lucky7 fuckyou fuckoff fuckme asshole bitch bullshit pussy sexy sexygirl
google facebook twitter instagram youtube microsoft windows linkedin amazon samsung iphone android
hello hellohello helloworld hallo hallowelt bonjour goodbye testing tester test testtest testuser test1234 user
username demo demodemo example sample temp temporary temppass dummy
america london berlin paris madrid moscow germany deutschland france espana italia brasil canada australia argentina
abcdef abcdefg abcdefgh abcdefghi aaaaaa correcthorsebatterystaple batterystaple thisismypassword mypassword
yourpassword nopassword newpassword oldpassword password1password onepassword mynameis myname noname
`;

const common = new Set(words.split(/\s+/).filter((word) => word !== ""));

const lookalikes: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

/** What is put before or behind a common one to please a rule; as much of it as this counts for nothing. */
const decorationMax = 6;

/**
 * Whether a new password is one that guessers try first (NIST SP 800-63B section 3.1.1.2): a common one, also with
 * look-alikes, capitals, blanks, and digits or signs around it; hardly more than one character; or a run such as
 * 12345678.
 */
export function isCommonPassword(password: string): boolean {
  const plain = password.normalize("NFKC").toLowerCase().replace(/\s+/g, "");
  if (new Set(plain).size <= 2 || isRun(plain) || isRepeated(plain)) return true;
  const bare = plain.replace(/^[\d\p{P}\p{S}]+|[\d\p{P}\p{S}]+$/gu, "");
  if (plain.length - bare.length > decorationMax) return isRun(plain.replace(/\D/g, "")) && common.has(bare);
  return [plain, bare, lettersOf(plain), lettersOf(bare), lettersOf(plain.replace(/[\d\p{P}\p{S}]{1,4}$/u, ""))].some(
    (form) => common.has(form),
  );
}

function lettersOf(text: string): string {
  return [...text].map((sign) => lookalikes[sign] ?? sign).join("");
}

/** Each character one after, or one before, the one before it; the zero of a keyboard comes after the nine. */
function isRun(text: string): boolean {
  const codes = [...text.replace(/90/g, "9:").replace(/09/g, ":9")].map((sign) => sign.codePointAt(0) ?? 0);
  const step = (codes[1] ?? 0) - (codes[0] ?? 0);
  return Math.abs(step) === 1 && codes.every((code, at) => at === 0 || code - (codes[at - 1] ?? 0) === step);
}

/** The same few characters again and again: `123123123`, `abcabcabc`. */
function isRepeated(text: string): boolean {
  return /^(.{1,4})\1+$/u.test(text) && (/^(.{1,3})\1+$/u.test(text) || /^\d+$/.test(text));
}
