import type { Texts } from '../texts.ts'

export const nav: Texts['nav'] = {
  label: 'Menu principal',
  overview: 'Aperçu',
  links: 'Liens',
  qr: 'Codes QR',
  history: 'Historique',
  proof: 'Preuve',
  operator: 'Exploitant',
  campaigns: 'Campagnes',
  channels: 'Canaux',
  bio: 'Pages bio',
  splash: 'Pages d’attente',
  overlays: 'Calques',
  pixels: 'Pixels',
  domains: 'Domaines',
  keys: 'Clés d’API',
  webhooks: 'Webhooks',
  more: 'Plus',
  account: 'Compte',
  settings: 'Compte et sécurité',
  api: 'Référence de l’API',
  signOut: 'Se déconnecter',
  create: 'Créer',
  createLink: 'Créer un lien',
  search: 'Chercher des liens',
  searchFor: 'Chercher liens, étiquettes, destinations',
  help: 'Aide',
  skip: 'Aller au contenu',
  utc: 'Heures en UTC',
}

export const actions: Texts['actions'] = {
  again: 'Réessayer',
  cancel: 'Annuler',
  close: 'Fermer',
  copy: 'Copier {what}',
  hide: 'Masquer',
  reload: 'Recharger',
  remove: 'Retirer',
  save: 'Enregistrer',
  show: 'Afficher',
  undo: 'Annuler',
}

export const errors: Texts['errors'] = {
  linksWork: 'Vos liens continuent de fonctionner.',
  newVersion: 'Le service a été mis à jour. Rechargez la page pour continuer.',
  noScreen: 'Il n’y a rien à cette adresse',
  noScreenText: 'Elle contient peut-être une faute de frappe, ou son contenu a été supprimé.',
  offline: 'Le service est injoignable. Vérifiez votre connexion.',
  slow: 'Le service n’a pas répondu à temps.',
  tooMany: 'Il y a eu trop de requêtes. Réessayez dans {n} secondes.',
  unknown: 'Une erreur s’est produite.',
}

export const toasts: Texts['toasts'] = {
  copied: 'Copié :',
  notCopied: 'Votre navigateur ne permet pas de copier ici. Sélectionnez le texte et copiez-le.',
  takenBack: 'La modification de {what} a été annulée : {reason}',
}

export const help: Texts['help'] = {
  title: 'Raccourcis clavier',
  create: 'Créer un lien',
  search: 'Chercher des liens',
  help: 'Afficher cette aide',
  close: 'Fermer, ou vider la sélection',
  chart: 'Se déplacer dans un graphique sélectionné',
}

export const signIn: Texts['signIn'] = {
  signIn: 'Se connecter',
  signUp: 'Créer un compte',
  create: 'Créer le compte',
  first: 'Créer le premier compte',
  firstText: 'Personne n’a encore de compte sur ce service. Commencez par le vôtre.',
  firstPrinted:
    'Personne n’a encore de compte sur ce service. L’adresse pour créer le premier a été affichée au démarrage du service.',
  enterCode: 'Saisissez votre code',
  email: 'E-mail',
  password: 'Mot de passe',
  passwordHint: 'Au moins 8 caractères.',
  code: 'Code de votre application d’authentification',
  codeHint: '6 chiffres, renouvelés toutes les 30 secondes.',
  recoveryCode: 'Code de secours',
  recoveryHint: 'Chacun sert une seule fois.',
  useApp: 'Utiliser l’application d’authentification',
  useRecovery: 'Utiliser plutôt un code de secours',
  change: 'Changer',
  forgotten: 'Mot de passe oublié ?',
  reset: 'M’envoyer un lien pour en choisir un nouveau',
  askOperator: 'Demandez à l’exploitant de ce service d’en définir un nouveau.',
  noAccount: 'Créer un compte',
  haveAccount: 'J’ai un compte',
}

export const past: Texts['past'] = {
  label: 'Temps',
  moment: 'Moment affiché',
  now: 'Maintenant',
  utc: '{time} UTC',
  shown: 'Vous voyez le passé, en lecture seule · {ago}',
  screenOfNow: 'Cet écran n’a pas de passé : il montre le présent',
  readOnly: 'Lecture seule',
  readOnlyWhy: 'Vous voyez le passé, qui ne peut pas être modifié. Revenez d’abord à maintenant.',
  previous: 'Modification précédente',
  next: 'Modification suivante',
  back: 'Revenir à maintenant',
  choose: 'Choisir un moment',
  chooseHint: 'En UTC. Tout s’affiche tel qu’il était alors.',
  go: 'Afficher',
}
